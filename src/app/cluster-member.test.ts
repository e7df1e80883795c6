import { expect, it } from 'bun:test'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import { loadConfiguration } from '../config/read-configuration.ts'
import { failureOf } from '../sync/port.ts'
import { assemble } from './assemble.ts'

const TEXT = 'crm: { kind: files, directory: . }\ncluster: { url: "redis://127.0.0.1:1/0" }\nsnapshot: null\n'

it('an instance that can read neither list says so once of each, however often it tries', async () => {
  const readFile = (): Promise<never> => Promise.reject(new Error('there is none'))
  const loaded = await loadConfiguration({ path: 'marquee.yaml', text: TEXT, env: {}, readFile })
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join())
  const time = new VirtualTime(1)
  const details: (string | null)[] = []
  const { crm, reading } = await assemble(loaded.configuration, time, (seen) => {
    if (seen.kind === 'cluster-changed' && seen.what === 'unfit') details.push(seen.detail)
  })
  let examined = 0
  crm.examine = async () => {
    const messages = ++examined === 3 ? ['no events'] : ['no events', 'no venues']
    return { problems: messages.map((message) => failureOf('unreachable', message)), warnings: [] }
  }
  reading.start()
  await time.pass(45_000)
  expect(examined).toBe(5)
  // The venues were there once in between.
  expect(details).toEqual(['no events', 'no venues', 'no venues'])
  const stopped = reading.stop()
  await time.pass(5000)
  await stopped
})
