import { afterAll, afterEach, expect, it } from 'bun:test'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assembleAlone } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { Crm, ListSource, PageStream, ReadOutcome } from '../../src/sync/port.ts'
import { readSmallFile } from '../../src/time/read-text.ts'
import { type Time, systemTime } from '../../src/time/time.ts'
import { eventually } from '../support/eventually.ts'

const folder = mkdtempSync(join(tmpdir(), 'marquee-ended-'))
const file = join(folder, 'our-crm.mjs')
const observed: Observation[] = []
let crm: Crm | null = null

afterEach(async () => {
  await crm?.close()
  observed.length = 0
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A connector whose events are read by these lines. */
const connector = (lines: string): string => `export default {
  api: 1,
  events: {
    async *full() {
      ${lines}
    },
    fields: { Id: 'id', Name: 'name', Start: 'at', Finish: 'at' },
  },
  venues: { async *full() { yield [] }, fields: { Id: 'id', Name: 'name' } },
}
`

/** Opens it. With this clock no pause passes, and no wait is too long. */
async function open(lines: string, beforeStart: () => void = () => {}): Promise<Crm> {
  const now = systemTime.now()
  const stopped: Time = { ...systemTime, now: () => now }
  writeFileSync(file, connector(lines), { mode: 0o644 })
  const text = JSON.stringify({ operations: null, crm: { kind: 'module', path: './our-crm.mjs' } })
  const loaded = await loadConfiguration({ path: join(folder, 'm.yaml'), text, env: {}, readFile: readSmallFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  beforeStart()
  const assembled = await assembleAlone(loaded.configuration, stopped, (observation) => void observed.push(observation))
  crm = assembled.crm
  return crm
}

function read<Item>(source: ListSource<Item>): PageStream<Item> {
  const held = { size: 0, version: () => Number.NaN }
  return source.read({ kind: 'full', cursor: null, held, signal: new AbortController().signal })
}

async function outcomeOf<Item>(pages: PageStream<Item>): Promise<ReadOutcome> {
  for (;;) {
    const next = await pages.next()
    if (next.done === true) return next.value
  }
}

it('a process that ends again and again is paused for, and what ended it is said all the while', async () => {
  const { events } = await open('process.exit(3)')
  for (let death = 1; death <= 2; death++)
    expect(await outcomeOf(read(events))).toMatchObject({
      failure: { message: 'events: our-crm.mjs ended with status 3' },
    })
  const message = 'our-crm.mjs ended with status 3; the next try is in 1 s'
  expect(await outcomeOf(read(events))).toEqual({
    ok: false,
    failure: { kind: 'internal', message, retryAfterMs: 1000 },
  })
})

it('a file that was changed is a wrong configuration, also between two tries to start it', async () => {
  const { events } = await open('yield []', () => appendFileSync(file, '// edited\n'))
  const sentence = 'our-crm.mjs has changed since the service was started: restart Marquee to use the new file'
  const outcome = await eventually(
    () => outcomeOf(read(events)),
    (seen) => !seen.ok && seen.failure.retryAfterMs !== null,
  )
  const message = `${sentence}; the next try is in 1 s`
  expect(outcome).toMatchObject({ ok: false, failure: { kind: 'misconfigured', message } })
})

it('a read that began in a process that has ended fails with it, and asks nothing of the next one', async () => {
  const { events, venues } = await open(`setTimeout(() => process.exit(4), 20)
      yield [{ id: '00000000-0000-4000-8000-000000000001', name: 'Bach', at: '2036-05-01T19:30:00Z' }]
      await new Promise(() => {})`)
  const pages = read(events)
  await eventually(
    () => pages.next(),
    ({ done, value }) => done === true || value.changes.length > 0,
  )
  await eventually(
    async () => JSON.stringify(observed),
    (seen) => seen.includes('our-crm.mjs ended with status 4; it is started again for the next read'),
  )
  expect(await outcomeOf(read(venues))).toMatchObject({ ok: true })
  expect(await outcomeOf(pages)).toMatchObject({
    ok: false,
    failure: { message: 'events: our-crm.mjs ended with status 4' },
  })
  expect(await outcomeOf(read(venues))).toMatchObject({ ok: true })
})
