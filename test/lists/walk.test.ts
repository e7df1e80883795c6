import { orderIndexOf, keepIndex } from '../../src/order/list-index.ts'
import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import type { DateTime, Tick } from '../../src/domain/date-time.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { Guid } from '../../src/domain/guid.ts'
import { openZone } from '../../src/domain/zone.ts'
import { Formatter } from '../../src/formats/format.ts'
import { ListPages } from '../../src/http/list-pages.ts'
import { type ListQuery, readListQuery } from '../../src/http/list-query.ts'
import type { ReadyPage } from '../../src/http/ready-pages.ts'
import { eventKind } from '../../src/records/list-kinds.ts'
import { RecordList } from '../../src/records/record-list.ts'
import { ZERO } from '../../src/domain/number.ts'

const formatter = new Formatter(() => ({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } }))
const DAY = Date.UTC(2026, 10, 22)
const TAGS = ['Talk', 'TALK', 'Café', 'Free', 'Dinner']
const WITHHELD = { fault: 'inactive', column: null, where: 'row', expected: null, found: null } as const

/** A list as anybody would write it: what the contract says, and nothing else. */
class Model {
  readonly #rows = new Map<
    string,
    { readonly event: EventRecord; readonly start: bigint; readonly end: bigint; readonly key: string }
  >()

  get records(): ReadonlyMap<string, EventRecord> {
    return new Map(Array.from(this.#rows, ([id, { event }]) => [id, event]))
  }

  set(event: EventRecord): void {
    const [start, finish] = [instant(event.Start), instant(event.Finish)]
    this.#rows.set(event.Id, { event, start, end: start > finish ? start : finish, key: keyOf(start, event.Id) })
  }

  delete(id: string): void {
    this.#rows.delete(id)
  }

  /** The page, and the row after it where there is one. */
  page({ from, to, venues, tags, available, after, limit }: ListQuery, nowMs: number): readonly EventRecord[] {
    const first = ticksOf(from ?? { ms: nowMs, ticks: 0 })
    const past = after === null ? '' : keyOf(ticksOf(after.start), after.id)
    const wanted = new Set(tags.map((tag) => tag.toLowerCase()))
    return [...this.#rows.values()]
      .filter(({ end, start, key }) => end >= first && (to === null || start < ticksOf(to)) && key > past)
      .filter(({ event }) => venues.length === 0 || venues.includes(event.VenueId))
      .filter(({ event }) => tags.length === 0 || event.Tags.some((tag) => wanted.has(tag.toLowerCase())))
      .filter(({ event }) => !available || event.TicketsAvailable > 0)
      .toSorted((left, right) => (left.key < right.key ? -1 : 1))
      .slice(0, limit + 1)
      .map(({ event }) => event)
  }
}

function keyOf(start: bigint, id: string): string {
  return `${String(start).padStart(20, '0')} ${id}`
}

function ticksOf({ ms, ticks }: Tick): bigint {
  return BigInt(ms) * 10_000n + BigInt(ticks)
}

/** Ticks of 100 ns since 1970, read by another parser than the service's. */
function instant(text: string): bigint {
  const [, whole = '', fraction = '', offset = ''] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(text) ?? []
  return BigInt(Date.parse(`${whole}${offset}`)) * 10_000n + BigInt(fraction.padEnd(7, '0'))
}

const guid = (index: number): Guid => {
  // Spread over the shards, and in an order of its own.
  // Two ids have the same first digits, by which the index orders rows before it looks at whole ids.
  const head = (((index >>> 1) * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')
  return `${head}-0000-4000-8000-${index.toString(16).padStart(12, '0')}` as Guid
}

function written(text: string): DateTime {
  return text as DateTime
}

const moment = fc
  .tuple(
    fc.nat(40),
    fc.constantFrom('', '', '', '.1', '.1234567', '.1234568', '.9999999'),
    fc.constantFrom(0, 60, -330),
  )
  .map(([hours, fraction, offset]) => {
    const wall = new Date(DAY + hours * 3_600_000 + offset * 60_000).toISOString().slice(0, 19)
    const size = Math.abs(offset)
    const minutes = `${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`
    return written(`${wall}${fraction}${offset < 0 ? '-' : '+'}${minutes}`)
  })

const change = fc.record({
  id: fc.nat(60),
  what: fc.constantFrom('serve', 'serve', 'serve', 'serve', 'withhold', 'remove'),
  Start: moment,
  Finish: moment,
  venue: fc.nat(3),
  Tags: fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 3 }),
  TicketsAvailable: fc.constantFrom(0, 0, 1, 5, -1),
})
type Step = typeof change extends fc.Arbitrary<infer Value> ? Value : never

const query = fc.record({
  from: fc.option(moment, { nil: null, freq: 2 }),
  to: fc.option(moment, { nil: null }),
  venues: fc.uniqueArray(fc.nat(4), { maxLength: 2 }),
  tags: fc.uniqueArray(fc.constantFrom(...TAGS, 'none'), { maxLength: 2 }),
  available: fc.boolean(),
  limit: fc.integer({ min: 1, max: 7 }),
})

function apply(list: RecordList<EventRecord>, model: Model, step: Step): void {
  const id = guid(step.id)
  const row = list.find(id)
  if (step.what === 'serve') {
    const { Start, Finish, Tags, TicketsAvailable } = step
    const record = {
      Id: id,
      Name: `Event \0 ${step.id}`,
      VenueId: guid(1000 + step.venue),
      TicketCapacity: 9,
      TicketsAvailable,
      Start,
      Finish,
      Price: ZERO,
      Tags,
      Links: [],
    }
    list.serve(row ?? list.insert(id), record)
    model.set(record)
    return
  }
  model.delete(id)
  if (row === null) return
  if (step.what === 'remove') list.remove(row)
  else list.withhold(row, WITHHELD)
}

const gone: Step = {
  id: 0,
  what: 'remove',
  Start: written(''),
  Finish: written(''),
  venue: 0,
  Tags: [],
  TicketsAvailable: 0,
}

function idsOf(page: ReadyPage | null): readonly string[] {
  const { Events } = JSON.parse(Buffer.from(page?.body ?? []).toString()) as { readonly Events: readonly EventRecord[] }
  return Events.map(({ Id }) => Id)
}

const zone = openZone('UTC')

function readQuery(text: string): ListQuery | string {
  if (zone === null) throw new Error('no zone')
  return readListQuery('events', text, zone)
}

function queryOf(text: string): ListQuery {
  const read = readQuery(text)
  if (typeof read === 'string') throw new Error(read)
  return read
}

describe('a walk over a list (contract §4.1)', () => {
  it('shows on each page what the plain model shows, whatever changes between pages; what stays comes once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 80 }),
        query,
        fc.array(fc.tuple(fc.array(change, { maxLength: 12 }), fc.nat(4)), { minLength: 40, maxLength: 40 }),
        fc.nat(40),
        fc.boolean(),
        async (before, asked, between, hours, isLate) => {
          const list = new RecordList(eventKind(formatter))
          const model = new Model()
          if (isLate) for (const step of before.splice(0)) apply(list, model, step)
          await keepIndex(list, async () => {})
          for (const step of before) apply(list, model, step)
          const pages = new ListPages(list, formatter)
          let nowMs = DAY + hours * 3_600_000
          const parts = [
            ...(asked.from === null ? [] : [`from=${encodeURIComponent(asked.from)}`]),
            ...(asked.to === null ? [] : [`to=${encodeURIComponent(asked.to)}`]),
            ...asked.venues.map((venue) => `venue=${guid(1000 + venue)}`),
            ...asked.tags.map((tag) => `tag=${encodeURIComponent(tag)}`),
            ...(asked.available ? ['available=true'] : []),
            `limit=${asked.limit}`,
          ]
          let text: string | null = parts.join('&')
          const stays = new Map(model.records)
          const seen: string[] = []
          for (const [steps, minutes] of between) {
            const read = readQuery(text)
            if (typeof read === 'string') return expect(read).toStartWith('to takes')
            const page = pages.page(read, 'json', nowMs)
            if (page === null) throw new Error('the index is not whole')
            const expected = model.page(read, nowMs)
            const shown = idsOf(page)
            expect(shown).toEqual(expected.slice(0, read.limit).map(({ Id }) => Id))
            expect(page.next !== null).toBe(expected.length > read.limit)
            // Asked again it is the same, whether kept ready or made again.
            expect(
              Buffer.from(new ListPages(list, formatter).page(read, 'json', nowMs)?.body ?? []).equals(page.body),
            ).toBe(true)
            seen.push(...shown)
            if (page.next === null) break
            text = page.next.slice(page.next.indexOf('?') + 1)
            for (const step of steps) {
              apply(list, model, step)
              stays.delete(guid(step.id))
            }
            nowMs += minutes * 60_000
          }
          const inTime = readQuery(parts.join('&'))
          if (typeof inTime === 'string') return
          const all = new Model()
          for (const record of stays.values()) all.set(record)
          for (const { Id } of all.page({ ...inTime, limit: 1000 }, nowMs)) {
            expect(seen.filter((id) => id === Id)).toHaveLength(1)
          }
        },
      ),
      { numRuns: 400 },
    )
  })

  it('keeps its order through thousands of entries that come, move and go', async () => {
    const list = new RecordList(eventKind(formatter))
    const model = new Model()
    await keepIndex(list, async () => {})
    for (const [at, step] of fc.sample(change, { seed: 16, numRuns: 12_000 }).entries()) {
      apply(list, model, { ...step, id: step.id * 50 + (at % 50) })
    }
    expect(list.served).toBeGreaterThan(1000)
    let asked = queryOf('from=2026-01-01&limit=200')
    const pages = new ListPages(list, formatter)
    for (let next: string | null = ''; next !== null;) {
      const page = pages.page(asked, 'json', DAY)
      expect(idsOf(page)).toEqual(
        model
          .page(asked, DAY)
          .slice(0, 200)
          .map(({ Id }) => Id),
      )
      next = page?.next ?? null
      if (next !== null) asked = queryOf(next.slice(next.indexOf('?') + 1))
    }
    for (const id of model.records.keys()) apply(list, model, { ...gone, id: Number.parseInt(id.slice(-12), 16) })
    expect(orderIndexOf(list)?.blocks.length).toBe(0)
    expect(idsOf(pages.page(queryOf('tag=Talk'), 'json', DAY))).toEqual([])
  })

  it('ends a page where its records are very large, and goes on from there', async () => {
    const list = new RecordList(eventKind(formatter))
    const model = new Model()
    await keepIndex(list, async () => {})
    const Start = written('2026-12-01T19:30:00+00:00')
    const Tags = ['x'.repeat(700_000)]
    for (let id = 0; id < 9; id++) apply(list, model, { ...gone, id, what: 'serve', Start, Finish: Start, Tags })
    const pages = new ListPages(list, formatter)
    const counts: number[] = []
    const seen: string[] = []
    for (let next: string | null = '?limit=8'; next !== null;) {
      const page = pages.page(queryOf(next.slice(next.indexOf('?') + 1)), 'hal-json', DAY)
      const { _embedded } = JSON.parse(Buffer.from(page?.body ?? []).toString()) as {
        readonly _embedded: { readonly event: readonly EventRecord[] }
      }
      counts.push(_embedded.event.length)
      seen.push(..._embedded.event.map(({ Id }) => Id))
      next = page?.next ?? null
    }
    // Three are the first that are more than 2 MB together.
    expect(counts).toEqual([3, 3, 3])
    expect(seen).toEqual([...model.records.keys()].toSorted())
  })

  it('takes in what is held in turns, and follows what changes meanwhile', async () => {
    const list = new RecordList(eventKind(formatter))
    const model = new Model()
    const step = (id: number, what: Step['what'] = 'serve'): Step => {
      const Start = written(`2026-11-${10 + (id % 20)}T19:30:00+00:00`)
      return { id, what, Start, Finish: Start, venue: id % 3, Tags: ['Talk'], TicketsAvailable: 1 }
    }
    for (let id = 0; id < 20_000; id++) apply(list, model, step(id))
    let turns = 0
    const pages = new ListPages(list, formatter)
    const read = queryOf('from=2026-01-01&limit=200')
    await keepIndex(list, async () => {
      turns++
      expect(pages.page(read, 'json', DAY)).toBeNull()
      for (let id = 0; id < 40; id++) {
        apply(
          list,
          model,
          step((turns * 977 + id * 331) % 21_000, id % 4 === 0 ? 'remove' : id % 4 === 1 ? 'withhold' : 'serve'),
        )
      }
    })
    expect(turns).toBeGreaterThan(2)
    let shown = 0
    for (const block of orderIndexOf(list)?.blocks ?? []) shown += block.rows.length
    expect(shown).toBe(model.records.size)
    expect(shown).toBe(list.served)
    const page = pages.page(read, 'json', DAY)
    const { Events } = JSON.parse(Buffer.from(page?.body ?? []).toString()) as { Events: EventRecord[] }
    expect(Events.map(({ Id }) => Id)).toEqual(
      model
        .page(read, DAY)
        .slice(0, 200)
        .map(({ Id }) => Id),
    )
  })
})
