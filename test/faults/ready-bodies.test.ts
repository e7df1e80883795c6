import { describe, expect, it } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { usualReadyBytes } from '../../src/app/usable-memory.ts'
import { guidOf } from '../model/records.ts'
import { eventually } from '../support/eventually.ts'
import { askOperations, sampleOf } from '../support/operations-client.ts'
import { Victim } from './victim.ts'
import { RUNTIMES } from '../support/depth.ts'

const EVENTS = 3000
const NAME_BYTES = 10_000
const BODIES_MB = (EVENTS * NAME_BYTES) / 2 ** 20
const SETTINGS = { operations: { port: 0 }, freshness: { maxAge: '60s', refreshEvery: '100ms', shrinkGuard: 'off' } }

function rows(count: number): string {
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z', ShowOnWeb: true }
  return JSON.stringify(
    Array.from({ length: count }, (_, index) => ({ Id: guidOf(index + 1), Name: 'x'.repeat(NAME_BYTES), ...times })),
  )
}

interface Told {
  readonly lists: { readonly events: { readonly served: number } }
  readonly readyBodies: {
    readonly limitBytes: number
    readonly bytes: number
    readonly hits: number
    readonly misses: number
  }
}

async function told(victim: Victim): Promise<Told> {
  const reply = await askOperations(`${victim.process.listening.operations ?? ''}status`)
  return JSON.parse(reply?.text ?? '') as Told
}

async function askAll(victim: Victim): Promise<void> {
  for (let from = 1; from <= EVENTS; from += 50) {
    const ids = Array.from({ length: 50 }, (_, at) => guidOf(from + at))
    const url = (id: string): string => `${victim.process.listening.address}api/events/${id}`
    const lengths = ids.map(async (id) => (await (await fetch(url(id))).text()).length)
    for (const length of await Promise.all(lengths)) expect(length).toBeGreaterThan(NAME_BYTES)
  }
}

describe.each(RUNTIMES)('limits.readyBodies on %s', (runtime) => {
  it('is filled as bodies are requested, and given back when the list shrinks', async () => {
    const victim = await Victim.start(runtime, SETTINGS, { events: rows(EVENTS), venues: '[]' })
    expect((await told(victim)).readyBodies).toEqual({ limitBytes: usualReadyBytes(), bytes: 0, hits: 0, misses: 0 })
    await askAll(victim)
    const { bytes, ...counts } = (await told(victim)).readyBodies
    expect(counts).toEqual({ limitBytes: usualReadyBytes(), hits: 0, misses: EVENTS })
    expect(bytes / 2 ** 20).toBeGreaterThan(BODIES_MB)
    expect(bytes / 2 ** 20).toBeLessThan(BODIES_MB * 1.1)
    // Without the bodies, a second round of requests takes no more memory than the first.
    const { residentMb } = victim
    await askAll(victim)
    expect((await told(victim)).readyBodies).toEqual({
      limitBytes: usualReadyBytes(),
      bytes,
      hits: EVENTS,
      misses: EVENTS,
    })
    expect(victim.residentMb - residentMb).toBeLessThan(40)
    victim.directory.write('events', rows(100))
    const after = await eventually(
      () => told(victim),
      ({ lists }) => lists.events.served === 100,
    )
    expect(after.readyBodies.bytes / 2 ** 20).toBeLessThan(12)
    expect(await victim.stop()).toBe(0)
  })

  it('follows a reload, in the metrics too', async () => {
    const limited = (readyBodies: string) => ({ ...SETTINGS, limits: { readyBodies } })
    const victim = await Victim.start(runtime, limited('64MB'), { events: rows(EVENTS), venues: '[]' })
    const operations = victim.process.listening.operations ?? ''
    await askAll(victim)
    const sample = async (name: string): Promise<number> =>
      sampleOf((await askOperations(`${operations}metrics`))?.text ?? '', `marquee_ready_bodies_${name}`) ?? Number.NaN
    expect([await sample('limit_bytes'), await sample('misses_total')]).toEqual([64e6, EVENTS])
    expect(await sample('bytes')).toBeGreaterThan(EVENTS * NAME_BYTES)
    const text = readFileSync(victim.directory.configuration, 'utf8')
    writeFileSync(victim.directory.configuration, text.replace('64MB', '8MB'))
    victim.process.child.signal('SIGHUP')
    const line = await victim.process.child.line((each) => each.includes('"reload'))
    expect(JSON.parse(line ?? '')).toMatchObject({ event: 'reloaded', changed: ['limits.readyBodies'] })
    expect(await sample('limit_bytes')).toBe(8e6)
    expect(await sample('bytes')).toBeLessThanOrEqual(8e6)
    await askAll(victim)
    expect(await sample('bytes')).toBeLessThanOrEqual(8e6)
    expect(await sample('hits_total')).toBeLessThan(EVENTS / 2)
    expect(await victim.stop()).toBe(0)
  })
})
