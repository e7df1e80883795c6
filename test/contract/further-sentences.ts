import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shapeSuffix } from './golden-cases.ts'
import { accept, type Start, type Subject } from './subject.ts'

const GOLDEN = join(import.meta.dirname, '../golden/further')
const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'
const FURTHER = {
  events: {
    Description: 'text',
    Image: 'text',
    Status: 'text',
    Doors: 'date-time',
    Rows: 'integer',
    Fee: 'decimal',
    Seated: 'flag',
    Genres: 'texts',
  },
  venues: { StepFree: 'flag', Access: 'texts', Map: 'text' },
}
const ROOM = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e3'
const VENUE = 'b1d9e0c7-42fa-4a8e-8c3d-6e5f70812a9b'

interface Case {
  readonly name: string
  readonly kind: 'event' | 'venue'
  readonly id: string
  readonly row: string
}

const CASES: readonly Case[] = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.case.json'))
  .toSorted()
  .map((file) => {
    const text = readFileSync(join(GOLDEN, file), 'utf8')
    const { kind, row } = JSON.parse(text) as { readonly kind: Case['kind']; readonly row: { readonly Id: string } }
    const written = text.slice(text.indexOf('"row":') + '"row":'.length, text.lastIndexOf('}'))
    return { name: file.slice(0, -'.case.json'.length), kind, id: row.Id, row: written }
  })

function rowsOf(kind: Case['kind']): string {
  return `[${CASES.filter((one) => one.kind === kind)
    .map(({ row }) => row)
    .join(',')}]`
}

function golden(name: string, suffix: string): string {
  return readFileSync(join(GOLDEN, `${name}.${suffix}`), 'utf8')
}

/** Fields that an organisation declares (contract §7). */
export function furtherSentences(start: Start): void {
  describe('further fields (contract §7)', () => {
    let subject: Subject
    beforeAll(async () => {
      subject = await start(
        {
          timeZone: 'Europe/London',
          lists: 'on',
          feeds: { calendar: 'on', jsonLd: 'on' },
          representation: {
            namespace: 'EventsApi',
            currency: 'GBP',
            further: FURTHER,
            page: 'https://www.example.org/{Status}/{Id}?in={Genres}&from={Doors}',
          },
        },
        { events: rowsOf('event'), venues: rowsOf('venue') },
      )
    })
    afterAll(() => subject.stop())

    it('stand in every format where the contract says, byte for byte', async () => {
      expect(CASES.map(({ name }) => name)).toHaveLength(4)
      for (const { name, kind, id } of CASES) {
        for (const [type, suffix] of shapeSuffix) {
          const { status, body } = await subject.ask(`/api/${kind}s/${id}`, accept(type))
          expect([name, type, status, body]).toEqual([name, type, 200, golden(name, suffix)])
        }
      }
    })

    it('stand in lists as in the records themselves, in the venues of a page too', async () => {
      const events = CASES.filter(({ kind }) => kind === 'event').map(({ name }) => name)
      for (const [type, suffix] of shapeSuffix) {
        const { body } = await subject.ask('/api/events', accept(type))
        for (const name of events) expect(body).toContain(golden(name, suffix).replace(DECLARATION, ''))
        if (suffix === 'xml') continue
        const page = await subject.ask('/api/events?include=venue', accept(type))
        expect(page.body).toContain(golden('04-venue', suffix).replace(DECLARATION, ''))
      }
    })

    it('are told to calendars: description, and the statuses that they know', async () => {
      const lines = async (number: number): Promise<readonly string[]> => {
        const { body } = await subject.ask(`/api/events/${ROOM}${number}.ics`)
        return body
          .replaceAll('\r\n ', '')
          .split('\r\n')
          .filter((line) => /^(?:DESCRIPTION|STATUS|URL|SUMMARY|LOCATION)/.test(line))
      }
      expect(await lines(1)).toEqual([
        'SUMMARY:Annual Dinner',
        String.raw`DESCRIPTION:Songs & "tales"\nof <sea>`,
        'LOCATION:Hall',
        'STATUS:CANCELLED',
        `URL:https://www.example.org/cancelled/${ROOM}1?in=Folk,R%26B&from=2036-07-12T19%3A00%3A00%2B01%3A00`,
      ])
      expect(await lines(2)).toEqual([
        'SUMMARY:Annual Dinner',
        'LOCATION:Hall',
        `URL:https://www.example.org//${ROOM}2?in=&from=`,
      ])
      expect(await lines(3)).toContain('STATUS:CONFIRMED')
    })

    it('are told to search engines: description, picture and status', async () => {
      const told = async (number: number): Promise<string> =>
        (await subject.ask(`/api/events/${ROOM}${number}`, accept('application/ld+json'))).body
      expect(await told(1)).toContain(
        String.raw`"endDate":"2036-07-12T23:00:00+01:00","description":"Songs \u0026 \"tales\"\nof \u003csea\u003e","image":"https://www.example.org/dinner.jpg","eventStatus":"https://schema.org/EventCancelled","eventAttendanceMode"`,
      )
      for (const number of [2, 3]) {
        const body = await told(number)
        expect(body).toContain(
          '"endDate":"2036-07-12T23:00:00+01:00","eventStatus":"https://schema.org/EventScheduled"',
        )
        expect(body).not.toMatch(/"(?:description|image)"/)
      }
    })

    it('are described with their types', async () => {
      const { body } = await subject.ask('/api/openapi.json')
      const { schemas } = (JSON.parse(body) as { components: { schemas: Record<string, Described> } }).components
      for (const name of ['Event', 'HalEvent'] as const) {
        const described = schemas[name]?.required.filter((field) => Object.hasOwn(FURTHER.events, field))
        expect([name, described]).toEqual([name, Object.keys(FURTHER.events)])
      }
      expect(schemas['Event']?.properties['Rows']?.type).toEqual(['integer', 'null'])
      expect(schemas['Venue']?.properties['StepFree']?.type).toEqual(['boolean', 'null'])
      const page = await subject.ask('/', accept('text/html'))
      expect(page.body).toContain('<code>StepFree</code>')
    })

    it('withhold a row that one of them cannot be read of, and no other row', async () => {
      const other = await start(
        { lists: 'on', representation: { further: { events: { Rows: 'integer' }, venues: { Built: 'date-time' } } } },
        {
          events: `[${eventWith(1, '"Rows":1.5')},${eventWith(2, '"Rows":15')},${eventWith(3, '"Rows":"2147483648"')}]`,
          venues: `[{"Id":"${VENUE}","Built":"1871"},{"Id":"${ROOM}9","Built":"1871-03-29T12:00:00Z"}]`,
        },
      )
      try {
        const statuses = await Promise.all(
          [1, 2, 3].map(async (number) => (await other.ask(`/api/events/${ROOM}${number}`)).status),
        )
        expect(statuses).toEqual([404, 200, 404])
        expect((await other.ask(`/api/venues/${VENUE}`)).status).toBe(404)
        expect((await other.ask(`/api/venues/${ROOM}9`)).body).toContain('"Built":"1871-03-29T12:00:00+00:00","_links"')
      } finally {
        await other.stop()
      }
    })
  })
}

interface Described {
  readonly required: readonly string[]
  readonly properties: Readonly<Record<string, { readonly type: unknown }>>
}

function eventWith(number: number, more: string): string {
  return `{"Id":"${ROOM}${number}","Start":"2036-07-12T19:30:00Z","Finish":"2036-07-12T19:30:00Z","ShowOnWeb":true,${more}}`
}
