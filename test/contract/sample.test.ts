import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EVENTS as EVENT_TABLE } from '../../src/domain/event.ts'
import { VENUES as VENUE_TABLE } from '../../src/domain/venue.ts'
import { ROOT } from '../support/child.ts'
import type { Subject } from './subject.ts'
import { startInProcess } from './in-process.ts'

type Row = Readonly<Record<string, unknown>>

const EVENTS = read('events')
const VENUES = read('venues')

function read(list: string): { readonly text: string; readonly rows: readonly Row[] } {
  const text = readFileSync(join(ROOT, 'sample', `${list}.json`), 'utf8')
  return { text, rows: JSON.parse(text) as Row[] }
}

describe('the sample', () => {
  let subject: Subject
  beforeAll(async () => {
    subject = await startInProcess({}, { events: EVENTS.text, venues: VENUES.text })
  })
  afterAll(() => subject.stop())

  it('is served, except the draft, the cancelled event and the closed venue', async () => {
    const missing: unknown[] = []
    for (const [kind, { rows }] of [
      ['events', EVENTS],
      ['venues', VENUES],
    ] as const) {
      for (const row of rows) {
        const { status } = await subject.ask(`/api/${kind}/${String(row['Id'])}`)
        const isShown = row['Active'] === true && (kind === 'venues' || row['ShowOnWeb'] === true)
        expect([row['Name'], status]).toEqual([row['Name'], isShown ? 200 : 404])
        if (status === 404) missing.push(row['Id'])
      }
    }
    expect(missing).toHaveLength(3)
  })

  it.each([EVENT_TABLE, VENUE_TABLE])('contains the examples in the table of $list', async ({ list, fields }) => {
    const [id] = fields.map(({ example }) => JSON.parse(example) as string)
    const { body } = await subject.ask(`/api/${list}/${id}`)
    const members = fields.map(({ name, example }) => `"${name}":${example}`)
    expect(body).toStartWith(`{${members.join(',')},"_links":`)
  })

  it('contains something of each kind worth showing', () => {
    const { rows } = EVENTS
    expect(rows.length).toBeGreaterThanOrEqual(30)
    expect(rows.some((row) => row['VenueId'] === null)).toBe(true)
    expect(rows.some((row) => row['TicketsAvailable'] === 0)).toBe(true)
    expect(rows.some((row) => Number(row['Price']) === 0)).toBe(true)
    expect(EVENTS.text).toMatch(/"Href": "[^"]*\{\?/)
    const closed = VENUES.rows.filter((row) => row['Active'] === false).map((row) => row['Id'])
    expect(rows.some((row) => closed.includes(row['VenueId']))).toBe(true)
    const countries = VENUES.rows.map((row) => row['AddressCountry'])
    expect(new Set(countries).size).toBe(3)
  })

  it('has ids that are version 4 UUIDs, each once, and dates of 2036 and 2037', () => {
    const ids = [...EVENTS.rows, ...VENUES.rows].map((row) => String(row['Id']))
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    for (const row of EVENTS.rows) {
      const [start, finish] = [String(row['Start']), String(row['Finish'])]
      for (const date of [start, finish]) expect(date).toMatch(/^203[67]-\d\d-\d\dT\d\d:\d\d:00\+0[0129]:00$/)
      expect(Date.parse(start)).toBeLessThan(Date.parse(finish))
    }
  })
})
