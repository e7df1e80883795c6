import { afterAll, afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { Child, programOf } from '../support/child.ts'
import { untilListening } from '../support/marquee-process.ts'
import type { Environment } from './environment.ts'
import { crmSection, fill, openEnvironment } from './environment.ts'
import { refusal } from './reply.ts'
import { RUNTIMES } from '../support/depth.ts'

const directory = mkdtempSync(join(tmpdir(), 'marquee-secrets-'))
let environment: Environment

// One for each: what is left of one's faults would meet the other at its start.
beforeEach(async () => {
  environment = await openEnvironment()
  fill(environment, 5)
})

afterEach(() => environment.standIn.close())

afterAll(() => rmSync(directory, { recursive: true }))

interface Status {
  readonly lists: { readonly events: { readonly served: number; readonly lastError: unknown } }
}

for (const runtime of RUNTIMES) {
  describe(`the secret and the token, on ${runtime}`, () => {
    it('are nowhere but in the requests that need them', async () => {
      const { standIn } = environment
      const { directory: aad } = standIn
      const crm = crmSection(standIn)
      const path = join(directory, `${runtime}.yaml`)
      const freshness = { maxAge: '2s', refreshEvery: '100ms' }
      writeFileSync(
        path,
        JSON.stringify({ listen: { port: 0 }, operations: { port: 0 }, freshness, log: { requests: true }, crm }),
      )
      const child = new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', path], {
        env: { SECRET: aad.secret },
      })
      const { listening } = await untilListening(child)
      const operations = listening.operations ?? ''
      const ask = async (page: string): Promise<string> => (await fetch(operations + page)).text()
      const status = async (): Promise<Status> => JSON.parse(await ask('status')) as Status
      await eventually(status, ({ lists }) => lists.events.served === 5)
      const seen: string[] = []
      const look = async (): Promise<void> => {
        for (const page of ['status', 'metrics', '', `explain/${environment.events.sorted()[0]?.id ?? ''}`])
          seen.push(await ask(page))
        seen.push(await (await fetch(listening.address)).text())
      }
      await look()
      // Errors that quote what they were sent: the worst that a server can do.
      const tokens = standIn.reads.map(({ headers }) => String(headers.authorization).slice(7))
      const quoting = `property named '${aad.secret}' prvRead ${tokens.join(' ')} ${aad.secret} segment`
      for (const code of [400, 403, 500])
        standIn.trap('events', { kind: 'reply', reply: refusal(code, aad.secret, quoting) }, 1)
      standIn.trap('events', { kind: 'reply', reply: { status: 200, headers: {}, body: `<p>${quoting}</p>` } })
      const faults = async (): Promise<number> => standIn.traps.reduce((left, { times }) => left + times, 0)
      await eventually(faults, (left) => left === 0)
      aad.revoke()
      aad.secretHasExpired = true
      await eventually(status, ({ lists }) => JSON.stringify(lists.events.lastError).includes('expired'))
      await look()
      aad.secretHasExpired = false
      await child.stop()
      const told = [...seen, child.stdout, child.stderr].join('\n')
      expect(told).toContain('expired')
      expect(told.toLowerCase().includes(aad.secret.toLowerCase())).toBe(false)
      for (const token of new Set(tokens)) expect(told.includes(token)).toBe(false)
    })
  })
}
