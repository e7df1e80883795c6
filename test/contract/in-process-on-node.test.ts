import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { afterAll } from 'bun:test'
import { programOf, ROOT } from '../support/child.ts'
import { contract } from './contract.ts'
import { type Inside, startInside } from './in-process.ts'
import type { Done, Order } from './inside-node.ts'

type Settle = (done: Done) => void

const pending = new Map<number, Settle>()
const node = Bun.spawn([programOf('node'), join(import.meta.dirname, 'inside-node.ts')], {
  cwd: ROOT,
  stdio: ['ignore', 'inherit', 'inherit'],
  serialization: 'json',
  ipc: (done: Done) => {
    pending.get(done.number)?.(done)
    pending.delete(done.number)
  },
})
afterAll(() => node.kill())

let orders = 0
const next = (): number => ++orders

async function order(what: Order): Promise<Buffer> {
  const { number } = what
  const { promise, resolve } = Promise.withResolvers<Done>()
  pending.set(number, resolve)
  node.send(what)
  const { response, failure } = await promise
  if (failure !== null) throw new Error(failure)
  return Buffer.from(response, 'base64')
}

let services = 0
async function openOnNode(configuration: string): Promise<Inside> {
  const service = ++services
  await order({ number: next(), kind: 'open', service, configuration })
  return {
    ask: (target, ask = {}) => order({ number: next(), kind: 'ask', service, target, ask }),
    async stop() {
      await order({ number: next(), kind: 'stop', service })
    },
  }
}

const start = startInside(openOnNode)
contract('in-process on Node', start)
contract('in-process on Node, with lists on', (settings, lists) => start({ lists: 'on', ...settings }, lists), true)
