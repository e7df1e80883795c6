import { describe, expect, it } from 'bun:test'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import type { Guid } from '../domain/guid.ts'
import { openZone } from '../domain/zone.ts'
import { keepIndex } from '../order/list-index.ts'
import { ListMaker } from '../records/row-records.ts'
import type { ServedLists } from '../sync/served-list.ts'
import { Feeds, KeptTexts } from './feeds.ts'
import type { ReadyPage } from './ready-pages.ts'

const ID = 'a0000000-0000-4000-8000-000000000001' as Guid
const OTHER = 'a0000000-0000-4000-8000-000000000002' as Guid

/** Returns whether the text was made for this call. */
function isMade(texts: KeptTexts, id: Guid, packed: string, beside = ''): boolean {
  let made = false
  const text = texts.of(id, packed, beside, () => {
    made = true
    return `${packed} ${beside}`
  })
  expect(text).toBe(`${packed} ${beside}`)
  return made
}

describe('kept texts', () => {
  it('are made again only if the record, or what else they are made of, has changed', () => {
    const texts = new KeptTexts(1000)
    expect(isMade(texts, ID, 'gala', 'hall')).toBe(true)
    expect(isMade(texts, ID, 'gala', 'hall')).toBe(false)
    expect(isMade(texts, OTHER, 'gala', 'hall')).toBe(true)
    expect(isMade(texts, ID, 'gala', 'Hall')).toBe(true)
    expect(isMade(texts, ID, 'Gala', 'Hall')).toBe(true)
    expect(isMade(texts, ID, 'gala', 'hall')).toBe(true)
  })

  it('stay within their room, in which a record that changes again and again takes one place', () => {
    const texts = new KeptTexts(200)
    for (let change = 0; change < 100; change++) isMade(texts, ID, `gala ${change}`)
    expect(isMade(texts, ID, 'gala 99')).toBe(false)
    isMade(texts, OTHER, 'x'.repeat(150))
    expect(isMade(texts, ID, 'gala 99')).toBe(true)
  })
})

describe('the calendar of many events', () => {
  const MEGABYTE = 1024 * 1024

  /** A calendar of more than 8 MB, and what asks for it after another change of its events. */
  async function largeCalendar() {
    const { events, venues } = new ListMaker(formatter).make()
    const zone = openZone('UTC')
    if (zone === null) throw new Error('UTC is not a zone')
    const pause = (): Promise<void> => Promise.resolve()
    await keepIndex(events, pause)
    const feeds = new Feeds({
      served: () => ({ events: { list: events }, venues: { list: venues } }) as ServedLists,
      settings: {
        basePath: '/',
        namespace: 'Marquee',
        links: { event: [], venue: [] },
        page: null,
        currency: null,
        calendarName: null,
      },
      switches: { calendar: true, jsonLd: false },
      zone,
      pause,
      maxAgeMs: 30_000,
    })
    let changes = 0
    const ask = (monotonicMs: number, query = '?from=2000-01-01', ageMs = 1000) => {
      const id = guidOf((++changes % 9) + 1)
      const row = events.find(id)
      const event = eventOf(id, { Name: String(changes).repeat(MEGABYTE).slice(0, MEGABYTE) })
      events.serve(row ?? events.insert(id), event)
      const asked = feeds.read(`/api/events.ics${query}`)
      if (typeof asked === 'string') throw new Error(asked)
      return feeds.calendar(asked, { nowMs: Date.UTC(2026, 10, 22), monotonicMs, ageMs })
    }
    for (let event = 0; event < 9; event++) await ask(0, '?limit=1')
    return ask
  }

  it('is written once for all who ask while it waits, whatever changes meanwhile', async () => {
    const ask = await largeCalendar()
    const answers = await Promise.all(Array.from({ length: 10 }, async () => ask(10_000)))
    const pages = answers.map((answer) => (answer === null || answer === 'too-many' ? answer : answer.page))
    expect(new Set(pages).size).toBe(1)
    expect(pages[0]).toMatchObject({ changes: 19 })
  })

  it('is answered from its last version, with the age of that, when it changes more often than it can be written', async () => {
    const ask = await largeCalendar()
    const written: ReadyPage[] = []
    for (;;) {
      const answer = ask(10_000)
      if (!(answer instanceof Promise)) break
      written.push((await answer).page)
    }
    expect(written.length).toBeGreaterThan(1)
    const ageAt = (monotonicMs: number): unknown => {
      const answer = ask(monotonicMs)
      if (answer === null || answer === 'too-many' || answer instanceof Promise) return answer
      expect(answer.page).toBe(written.at(-1) as never)
      return answer.ageMs
    }
    expect([ageAt(20_000), ageAt(39_000)]).toEqual([11_000, 30_000])
    // Older than the maximum age, or another address.
    expect([ageAt(39_001), ask(20_000, '?from=2000-01-02')]).toEqual(['too-many', 'too-many'])
  })
})
