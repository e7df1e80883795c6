import { guidOf } from '../model/records.ts'

/**
 * What is repeated until a text is long: what opens and never ends, what is escaped, what separates, what is a number.
 */
const PATTERNS: readonly string[] = [
  '[',
  '{"a":',
  '"',
  '\\',
  '\\u0000',
  '{}',
  '1.5,',
  '9',
  ';',
  ',',
  '\n',
  '\r\n',
  '\r',
  '\u2028',
  '<&>',
  ' ',
  '\ud83d\ude00',
  '{"Rel":"a","Href":"b"},',
  '"k":"v",',
]

/** A file of a list: its name's ending, and its content. */
export interface HostileFile {
  readonly ending: 'json' | 'ndjson' | 'csv'
  readonly content: string
}

type Place = readonly [name: string, ending: HostileFile['ending'], write: (pattern: string, bytes: number) => string]

const ID = guidOf(1)
const TIMES = '"Start":"2036-07-12T19:30:00Z","Finish":"2036-07-12T23:00:00Z"'
/** The members of an event that is served. */
const ROW = `"Id":"${ID}",${TIMES},"ShowOnWeb":true`
export const EVENT_ROW: string = `{${ROW}}`
const HEADER = 'Id,Start,Finish,ShowOnWeb'
const CELLS = `${ID},2036-07-12T19:30:00Z,2036-07-12T23:00:00Z,true`

const PLACES: readonly Place[] = [
  ['a file', 'json', long],
  ['a file of lines', 'ndjson', long],
  ['a CSV file', 'csv', long],
  ['a row', 'json', (pattern, bytes) => `[{${ROW},"Unread":${long(pattern, bytes)}}]`],
  ['a list in a row', 'json', (pattern, bytes) => `[{${ROW},"Links":[${long(pattern, bytes)}]}]`],
  ['a line', 'ndjson', (pattern, bytes) => `{${ROW},"Unread":[${long(pattern, bytes)}]}\n`],
  ['a text', 'json', (pattern, bytes) => `[{${ROW},"Name":${longText(pattern, bytes)}}]`],
  ['an id', 'json', (pattern, bytes) => `[{"Id":${longText(pattern, bytes)}}]`],
  ['a date', 'json', (pattern, bytes) => `[{${ROW},"Finish":${longText(pattern, bytes)}}]`],
  ['a price', 'json', (pattern, bytes) => `[{${ROW},"TicketCapacity":${longText(pattern, bytes)}}]`],
  ['tags', 'json', (pattern, bytes) => `[{${ROW},"Tags":[${many(bytes, () => JSON.stringify(pattern))}]}]`],
  ['links', 'json', (pattern, bytes) => `[{${ROW},"Links":[${many(bytes, () => linkOf(pattern))}]}]`],
  ['names', 'json', (pattern, bytes) => `[{${ROW},${many(bytes, (index) => memberOf(`${pattern}${index}`))}}]`],
  ['one name', 'json', (pattern, bytes) => `[{${ROW},${many(bytes, () => memberOf(pattern))}}]`],
  ['rows', 'json', (pattern, bytes) => `[${many(bytes, (index) => rowOf(index, pattern))}]`],
  ['rows without an id', 'json', (pattern, bytes) => `[${many(bytes, () => `{${memberOf(pattern)}}`)}]`],
  [
    'a header',
    'csv',
    (pattern, bytes) => `${HEADER},${many(bytes, (index) => quoted(`${pattern}${index}`))}\n${CELLS}\n`,
  ],
  ['a cell', 'csv', (pattern, bytes) => `${HEADER},Name\n${CELLS},${longCell(pattern, bytes)}\n`],
  ['a cell without quotes', 'csv', (pattern, bytes) => `${HEADER},Name\n${CELLS},${long(pattern, bytes)}\n`],
  ['a cell of tags', 'csv', (pattern, bytes) => `${HEADER},Tags\n${CELLS},${longCell(pattern, bytes)}\n`],
  [
    'a cell of links',
    'csv',
    (pattern, bytes) => `${HEADER},Links\n${CELLS},"[${longCell(pattern, bytes).slice(1, -1)}]"\n`,
  ],
  [
    'cells of links',
    'csv',
    (pattern, bytes) => `${HEADER},Links\n${CELLS},${quoted(`[${many(bytes, () => linkOf(pattern))}]`)}\n`,
  ],
  ['rows of one cell', 'csv', (pattern, bytes) => `${HEADER}\n${many(bytes, () => quoted(pattern), '\n')}`],
  [
    'rows of cells',
    'csv',
    (pattern, bytes) => `Id,Name\n${many(bytes, (index) => `${guidOf(index)},${quoted(pattern)}`, '\n')}`,
  ],
]

/**
 * Where a pattern costs little and the number of rows nearly all: one pattern has them in full, each other a quarter.
 */
const ROWS: ReadonlySet<string> = new Set(['rows', 'rows without an id', 'rows of one cell', 'rows of cells'])

/** Every pattern in every place, and the part of the full length that it is tried at. */
export const HOSTILE_FILES: readonly (readonly [name: string, of: (bytes: number) => HostileFile, part: number])[] =
  PLACES.flatMap(([place, ending, write]) =>
    PATTERNS.map(
      (pattern, index) =>
        [
          `${place} of ${JSON.stringify(pattern)}`,
          (bytes: number): HostileFile => ({ ending, content: write(pattern, bytes) }),
          ROWS.has(place) && index > 0 ? 1 / 4 : 1,
        ] as const,
    ),
  )

/** What a caller says, in the path and in each header that is read. */
export interface HostileCall {
  readonly pathname: string
  readonly header: string | null
}

const CALL_PATTERNS = [
  ...PATTERNS,
  '/',
  '%',
  '%2f',
  '../',
  'a',
  '0',
  '-',
  '*/*,',
  'text/xml;q=0.5,',
  'a/b;c="',
  'W/"',
  '"a",',
  '?',
  '&a=',
  '+',
]

export const HOSTILE_CALLS: readonly (readonly [name: string, of: (bytes: number) => HostileCall])[] =
  CALL_PATTERNS.flatMap(
    (pattern) =>
      [
        [
          `a header of ${JSON.stringify(pattern)}`,
          (bytes: number) => ({ pathname: `/api/events/${ID}`, header: long(pattern, bytes) }),
        ],
        [
          `an id of ${JSON.stringify(pattern)}`,
          (bytes: number) => ({ pathname: `/api/events/${long(pattern, bytes)}`, header: null }),
        ],
        [
          `a path of ${JSON.stringify(pattern)}`,
          (bytes: number) => ({ pathname: `/${long(pattern, bytes)}`, header: null }),
        ],
      ] as const,
  )

function long(pattern: string, bytes: number): string {
  return pattern.repeat(Math.ceil(bytes / Buffer.byteLength(pattern)))
}

/** The same as a text of JSON, or a cell of CSV, which has so many bytes as it is written. */
function longText(pattern: string, bytes: number): string {
  const count = Math.ceil(bytes / (Buffer.byteLength(JSON.stringify(pattern)) - 2))
  return JSON.stringify(pattern.repeat(count))
}

function longCell(pattern: string, bytes: number): string {
  const count = Math.ceil(bytes / (Buffer.byteLength(quoted(pattern)) - 2))
  return quoted(pattern.repeat(count))
}

function many(bytes: number, write: (index: number) => string, separator = ','): string {
  const items: string[] = []
  for (let length = 0; length < bytes; length += Buffer.byteLength(items.at(-1) ?? '') + 1)
    items.push(write(items.length))
  return items.join(separator)
}

function linkOf(text: string): string {
  return JSON.stringify({ Rel: text, Href: text })
}

function memberOf(name: string): string {
  return `${JSON.stringify(name)}:1.50`
}

function rowOf(index: number, text: string): string {
  return JSON.stringify({ Id: guidOf(index + 1), Name: text })
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`
}
