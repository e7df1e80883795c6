import { describe, expect, it } from 'bun:test'
import { guidOf } from '../model/records.ts'
import { eventually } from '../support/eventually.ts'
import { askOperations } from '../support/operations-client.ts'
import { soak } from './soak.ts'
import { Victim } from './victim.ts'
import { inTurn, RUNTIMES, SOAK_S } from '../support/depth.ts'

const LIMIT_MB = 512

function rows(count: number, name: string): string {
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
  const of = (index: number): object => ({
    Id: guidOf(index + 1),
    Name: `${name} ${'x'.repeat(500)}`,
    ...times,
    ShowOnWeb: true,
  })
  return JSON.stringify(Array.from({ length: count }, (_, index) => of(index)))
}

for (const runtime of RUNTIMES) {
  describe(`the ceiling of memory, on ${runtime}`, () => {
    it('a list larger than limits.memory is refused, what was held is kept, and it is said; a smaller one is taken again', async () => {
      const settings = { limits: { memory: '4MB' }, freshness: { maxAge: '60s', refreshEvery: '100ms' } }
      const victim = await Victim.start(runtime, settings, { events: rows(100, 'small'), venues: '[]' })
      const { residentMb } = victim
      const target = `/api/events/${guidOf(100)}`
      expect((await victim.ask(target)).body).toContain('"Name":"small ')
      victim.directory.write('events', rows(30_000, 'large'))
      const line = await victim.process.child.line((text) => text.includes('limits.memory'))
      expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'warn', list: 'events', outcome: 'too-large' })
      expect(line).toMatch(
        /the lists need more than \d+(\.\d)? MB \(after [\d,]+ rows of the events\), and limits.memory is 4 MB: raise it; the previous list is kept/,
      )
      expect((await victim.ask(target)).status).toBe(200)
      expect((await victim.ask(`/api/events/${guidOf(30_000)}`)).status).toBe(404)
      // Parsing passes through memory; what is held does not.
      expect(victim.residentMb).toBeLessThan(residentMb + 150)
      victim.directory.write('events', rows(100, 'mended'))
      await eventually(
        () => victim.ask(target),
        ({ body }) => body.includes('"Name":"mended '),
      )
      expect((await victim.ask(`/api/events/${guidOf(200)}`)).status).toBe(404)
      expect(await victim.stop()).toBe(0)
    })

    it('a list that was too large at the start is read once it has become smaller, at every read', async () => {
      const settings = { limits: { memory: '4MB' }, freshness: { maxAge: '3s', refreshEvery: '100ms' } }
      const victim = await Victim.start(runtime, settings, { events: rows(30_000, 'large'), venues: '[]' })
      const line = await victim.process.child.line((text) => text.includes('limits.memory'))
      expect(line).not.toContain('is kept')
      victim.directory.write('events', rows(100, 'small'))
      const target = `/api/events/${guidOf(100)}`
      await eventually(
        () => victim.ask(target),
        ({ status }) => status === 200,
      )
      for (const name of ['mended', 'mended again']) {
        victim.directory.write('events', rows(100, name))
        await eventually(
          () => victim.ask(target),
          ({ body }) => body.includes(`"Name":"${name} `),
        )
      }
      expect(await victim.stop()).toBe(0)
    })
  })
}

const TIMES = '"Start":"2036-07-12T19:30:00Z","Finish":"2036-07-12T23:00:00Z"'

/** So many bytes of rows that are not served, and what they may add to what is resident while they are refused. */
const WITHHELD: readonly (readonly [what: string, bytes: number, limit: string, row: (index: number) => string])[] = [
  ['rows without an id', 3_000_000, '32MB', () => '{}'],
  ['rows of one id', 6_000_000, '4MB', () => `{"Id":"${guidOf(2)}",${TIMES},"ShowOnWeb":true}`],
  ['rows that are not to be shown', 6_000_000, '8MB', (index) => `{"Id":"${guidOf(index)}",${TIMES}}`],
  ['rows that cannot be read', 6_000_000, '8MB', (index) => `{"Id":"${guidOf(index)}","Start":"tomorrow"}`],
]
const REFUSED_MB = 250
/**
 * What a million rows without an id may add where there is room for them: two thousand bytes for each took 0.7 GB.
 */
const HELD_MB = 500

function written(bytes: number, row: (index: number) => string): string {
  const items: string[] = []
  for (let length = 0; length < bytes; length += (items.at(-1)?.length ?? 0) + 1) items.push(row(items.length + 1))
  return `[${items.join(',')}]`
}

describe('rows that are withheld count against limits.memory', () => {
  it.each(inTurn(WITHHELD))(
    'on %s, %s: the list is refused while it is read, and what was held is kept',
    async (runtime, _, bytes, memory, row) => {
      const settings = { limits: { memory }, freshness: { maxAge: '60s', refreshEvery: '100ms' } }
      const victim = await Victim.start(runtime, settings, { events: rows(1, 'held'), venues: '[]' })
      const { residentMb } = victim
      let peakMb = 0
      const watch = setInterval(() => (peakMb = Math.max(peakMb, victim.residentMb)), 20)
      victim.directory.write('events', written(bytes, row))
      const line = await victim.process.child.line((text) => text.includes('limits.memory'))
      clearInterval(watch)
      expect(JSON.parse(line ?? '{}')).toMatchObject({ list: 'events', outcome: 'too-large' })
      expect(peakMb - residentMb).toBeLessThan(REFUSED_MB)
      expect((await victim.ask(`/api/events/${guidOf(1)}`)).body).toContain('"Name":"held ')
      expect(await victim.stop()).toBe(0)
    },
  )

  it.each(RUNTIMES)('3 MB of {} are held in a fraction of what their objects would take, on %s', async (runtime) => {
    const settings = { operations: { port: 0 }, freshness: { maxAge: '60s', refreshEvery: '100ms' } }
    const victim = await Victim.start(runtime, settings, { events: '[]', venues: '[]' })
    const { residentMb } = victim
    victim.directory.write(
      'events',
      written(3_000_000, () => '{}'),
    )
    const status = `${victim.process.listening.operations ?? ''}status`
    await eventually(
      async () => (await askOperations(status))?.text ?? '',
      (text) => text.includes('"withheld":1000000'),
    )
    console.log(`${runtime}: 3 MB of {} took ${Math.round(victim.residentMb - residentMb)} MB`)
    expect(victim.residentMb).toBeLessThan(residentMb + HELD_MB)
    expect(await victim.stop()).toBe(0)
  })
})

describe('the soak: 100,000 events, 1 % of them changing each second', () => {
  it(`stays within ${LIMIT_MB} MB for ${SOAK_S} s, and answers nothing wrong (npm run soak: longer)`, async () => {
    for (const report of await Promise.all(RUNTIMES.map((runtime) => soak(runtime, SOAK_S, SOAK_S, SOAK_S * 600)))) {
      const { runtime, answers, wrong, mostResidentMb, p999Ms, exit } = report
      console.log(
        `${runtime}: ${answers} answers in ${SOAK_S} s, ${wrong} wrong; at most ${mostResidentMb.toFixed(0)} MB; p99.9 ${p999Ms.toFixed(0)} ms`,
      )
      expect({ wrong, exit }).toEqual({ wrong: 0, exit: 0 })
      expect(mostResidentMb).toBeLessThan(LIMIT_MB)
    }
  })
})
