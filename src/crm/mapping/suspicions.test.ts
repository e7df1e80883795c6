import { describe, expect, it } from 'bun:test'
import { suspicionSaid } from '../../faults/fault-words.ts'
import { columnSource as column } from '../../config/crm/sources.ts'
import { type Zone, openZone } from '../../domain/zone.ts'
import type { ListSetting } from './list-setting.ts'
import { EVENT_ROWS, listMapping, mapRow } from './map-row.ts'
import { Suspicions } from './suspicions.ts'

const utc = zoneNamed('UTC')
const fields = { Id: column('Id'), Start: column('Beginn'), Finish: column('Ende'), Price: column('Preis') }
const idOf = (at: number): string => `5f6c2a3e-8d0b-4c57-9e21-${String(at).padStart(12, '0')}`

function zoneNamed(name: string): Zone {
  const zone = openZone(name)
  if (zone === null) throw new Error('the runtime has no zones')
  return zone
}

function suspicious(
  rows: readonly (readonly [start: string, finish: string, price: string | null])[],
  {
    thorough = false,
    sources = fields,
    serves = () => true,
  }: {
    readonly thorough?: boolean
    readonly sources?: ListSetting['fields']
    readonly serves?: (id: string) => boolean
  } = {},
): readonly string[] {
  const suspicions = new Suspicions(thorough)
  const setting = { from: 'events', fields: sources, active: null, showOnWeb: null }
  const context = {
    idNamespace: null,
    venuesFrom: 'venues',
    zone: utc,
    showIn: utc,
    lists: 'text',
    suspicions,
  } as const
  const mapping = listMapping(EVENT_ROWS, setting, context)
  for (const [at, [Beginn, Ende, Preis]] of rows.entries()) {
    const cells = { Id: idOf(at), Beginn, Ende, Preis, [BROKEN_NAME]: Preis }
    const row = mapRow(mapping, cells, () => `row ${at}`, 1)
    expect(row.kind).toBe('record')
  }
  return suspicions
    .list(serves)
    .map(suspicionSaid)
    .map((found) => `${found.column} ${found.what} (${found.count}; ${found.example})`)
}

/** A column that its spreadsheet names on two lines. */
const BROKEN_NAME = 'Preis\nin €'
const PLAIN = ['2027-05-01T19:30Z', '2027-05-01T22:00Z', '12.50'] as const

describe('suspicious, and served all the same (SURFACE: Further fields, conditions, ports)', () => {
  it.each([false, true])('an event that lasts long or has a price below 0 (thorough: %p)', (thorough) => {
    const rows = [
      PLAIN,
      ['2027-05-01T19:30Z', '2027-05-08T19:30Z', '0'],
      ['2027-05-01T19:30Z', '2027-05-08T19:31Z', '1'],
      ['2207-01-01T00:00Z', '2207-01-01T01:00Z', '-5'],
    ] as const
    expect(suspicious(rows, { thorough })).toEqual([
      'Ende is more than 7 days after Beginn (1; row 2: Ende is 2027-05-08T19:31:00+00:00, and Beginn 2027-05-01T19:30:00+00:00)',
      'Preis is negative (1; row 3: Preis is -5)',
    ])
  })

  it('a blank price among prices, whichever comes first', () => {
    const blank = [PLAIN[0], PLAIN[1], ' '] as const
    const none = [PLAIN[0], PLAIN[1], null] as const
    const sentence = 'Preis is blank and served as 0, though other rows have a price'
    expect(suspicious([blank, PLAIN, none])).toEqual([`${sentence} (2; row 0: Preis is " ")`])
    expect(suspicious([PLAIN, none])).toEqual([`${sentence} (1; row 1: Preis is null)`])
    expect(suspicious([blank, none])).toEqual([])
    expect(suspicious([blank, PLAIN], { sources: { ...fields, Price: null } })).toEqual([])
    // A withheld row is not served as 0.
    expect(suspicious([PLAIN, none], { thorough: true, serves: (id) => id === idOf(0) })).toEqual([])
    const blankAsFree = { ...fields, Price: { ...column('Preis'), whenBlank: '0' } }
    expect(suspicious([blank, PLAIN], { sources: blankAsFree })).toEqual([])
  })

  it('in a column whose name has a line break as in any other', () => {
    const sources = { ...fields, Price: column(BROKEN_NAME) }
    const blank = [PLAIN[0], PLAIN[1], ' '] as const
    expect(suspicious([blank], { sources })).toEqual([])
    expect(suspicious([blank, PLAIN], { sources })).toEqual([
      `${BROKEN_NAME} is blank and served as 0, though other rows have a price (1; row 0: ${BROKEN_NAME} is " ")`,
    ])
  })
})

describe('a column that rows may omit', () => {
  const context = { idNamespace: null, venuesFrom: 'venues', zone: utc, showIn: utc, lists: 'native' } as const
  const setting = { from: 'events', fields: { ...fields, Name: column('Titel') }, active: null, showOnWeb: null }

  /** The suspicions after a read of this many rows, of which only `later` and all after it have a name and a price. */
  function afterRead(rows: number, later: number): Suspicions {
    const suspicions = new Suspicions()
    const mapping = listMapping(EVENT_ROWS, setting, { ...context, suspicions })
    for (let at = 0; at < rows; at++) {
      const [Beginn, Ende, Preis] = PLAIN
      const row = { Id: idOf(at), Beginn, Ende, ...(at < later ? {} : { Titel: 'A', Preis }) }
      mapRow(mapping, row, () => `row ${at}`, 1)
    }
    suspicions.judge(rows)
    return suspicions
  }

  it.each([0, 63, 64, 999])('is read, even if only row %d and those after it have it', (later) => {
    const suspicions = afterRead(1000, later)
    expect(suspicions.readsPrice).toBe(true)
    expect(
      suspicions
        .list(() => true)
        .map(suspicionSaid)
        .filter(({ what }) => what.startsWith('is read from no column')),
    ).toEqual([])
  })

  it('is read from no column if all omit it', () => {
    const suspicions = afterRead(1000, 1000)
    expect(suspicions.readsPrice).toBe(false)
    expect(
      suspicions
        .list(() => true)
        .map(suspicionSaid)
        .map(({ column: name }) => name),
    ).toContain('Price')
  })
})

describe('midnight everywhere', () => {
  const midnights = (starts: readonly string[], finish = '2027-05-09T22:00Z'): readonly string[] =>
    suspicious(starts.map((start) => [start, finish, '12.50'] as const)).filter((found) => found.includes('midnight'))

  it.each(['2027-05-01T00:00:00', '2027-05-01T00:00:00.000Z', '2027-05-01 00:00+00:00'])(
    'is suspicious in any list, whatever it is written like: %s',
    (start) => {
      const [starts, ...others] = midnights([start, '2027-05-02T00:00Z', '2027-05-03T00:00Z'])
      expect(starts).toStartWith(
        'Beginn is at midnight in every row: all events start at 00:00 (3; if another column has',
      )
      expect(others).toEqual([])
    },
  )

  it('is suspicious of ends too, and of neither once one event has a time', () => {
    expect(midnights(['2027-05-01T19:30Z'], '2027-05-02T00:00Z')[0]).toStartWith(
      'Ende is at midnight in every row: all events end at 00:00 (1; ',
    )
    expect(midnights(['2027-05-01T00:00Z', '2027-05-02T00:01Z', '2027-05-03T00:00Z'])).toEqual([])
  })
})

it('dates without an offset are counted in each read anew, also where the mapping outlives the read', () => {
  const suspicions = new Suspicions()
  const setting = { from: 'events', fields, active: null, showOnWeb: null }
  const context = { idNamespace: null, venuesFrom: 'venues', zone: utc, showIn: utc, lists: 'native' } as const
  const mapping = listMapping(EVENT_ROWS, setting, { ...context, suspicions })
  const read = (count: number): void => {
    suspicions.begin()
    for (let at = 0; at < count; at++)
      mapRow(mapping, { Id: idOf(at), Beginn: '2027-05-01T19:30', Ende: PLAIN[1] }, () => `row ${at}`, 1)
  }
  for (const count of [3, 2]) {
    read(count)
    expect([...suspicions.wallDates]).toEqual([['Beginn', count]])
  }
  suspicions.begin()
  suspicions.skip()
  expect([...suspicions.wallDates]).toEqual([['Beginn', 2]])
})
