// An older service, for the tests of `marquee compare`: it answers the golden files as the reference wrote them, before
// the departures of the contract (§3.3). It shares no code with Marquee. As a program:
//   ./bun test/compare/old-service.ts 8090 FOLDER [FAULT…]   also writes the rows of its records as a files CRM
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const GOLDEN = join(import.meta.dirname, '../golden')
export const ZONE = 'Europe/London'

type Shape = 'json' | 'xml' | 'hal.json' | 'hal.xml'

interface Row {
  readonly Id: string
  readonly VenueId?: string | null
  readonly Links?: readonly { readonly Href: string }[]
  readonly [field: string]: unknown
}

export interface OldRecord {
  readonly name: string
  readonly kind: 'event' | 'venue'
  readonly id: string
  readonly venueId: string | null
  /** The row as JSON, with the digits of its numbers. */
  readonly row: string
  readonly bodies: Readonly<Record<Shape, string>>
}

/** An answer before it is sent. A fault may change all of it. */
interface OldAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
  delayMs: number
}

interface OldCall {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly record: OldRecord | null
  /** How often this path was asked for in this type, this time included. */
  readonly times: number
}

export type Fault = (answer: OldAnswer, call: OldCall) => void

/** Characters that XML 1.0 cannot carry: the reference writes them as references, which is broken XML. */
const NOT_CARRIED =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Every golden case in one time zone, each with an id of its own. */
export function oldRecords(): readonly OldRecord[] {
  return readdirSync(GOLDEN)
    .filter((file) => file.endsWith('.case.json'))
    .toSorted()
    .flatMap((file, index) => {
      const name = file.slice(0, -'.case.json'.length)
      const text = readFileSync(join(GOLDEN, file), 'utf8')
      const { kind, timeZone, row } = JSON.parse(text) as { kind: 'event' | 'venue'; timeZone: string; row: Row }
      if (timeZone !== ZONE) return []
      const id = `${row.Id.slice(0, 24)}${String(index).padStart(12, '0')}`
      // All events take place at the first venue.
      const venueId = row.VenueId === undefined || row.VenueId === null ? null : VENUE_ID
      const own = (from: string): string =>
        from
          .replaceAll(row.Id, id)
          .replaceAll(row.Id.toUpperCase(), id.toUpperCase())
          .replaceAll(row.VenueId ?? row.Id, VENUE_ID)
      const body = (shape: Shape): string => readFileSync(join(GOLDEN, `${name}.${shape}`), 'utf8')
      const bodies = {
        json: own(body('json')),
        xml: own(plainXml(body('xml'), row)),
        'hal.json': own(halJson(body('hal.json'))),
        'hal.xml': own(halXml(body('hal.xml'), row, nullFields(body('hal.json')))),
      }
      const source = text.slice(text.indexOf('"row":') + '"row":'.length, text.lastIndexOf('}'))
      return [{ name, kind, id, venueId, row: own(source), bodies }]
    })
}

const VENUE_ID = 'b1d9e0c7-42fa-4a8e-8c3d-000000000004'

/** The null fields of a record, which its HAL JSON names. */
function nullFields(halJsonBody: string): readonly string[] {
  const fields = halJsonBody.slice(0, halJsonBody.indexOf('"_links":'))
  return Array.from(fields.matchAll(/"(\w+)":null,/g), ([, name = '']) => name)
}

/** §3.3: the reference leaves null fields out of HAL JSON. */
function halJson(body: string): string {
  return nullFields(body).reduce((text, name) => text.replace(`"${name}":null,`, ''), body)
}

/** §3.3: the reference normalizes CR, and writes references to characters that XML does not have. */
function plainXml(body: string, row: Row): string {
  const folded = body.replaceAll(/&#xD;\n?/g, '\n')
  const lost = Object.values(row).flatMap((value) =>
    typeof value === 'string' ? (value.match(NOT_CARRIED) ?? []) : [],
  )
  let at = 0
  return folded.replaceAll('\ufffd', () => {
    const character = lost[at++ % Math.max(1, lost.length)] ?? '\u0001'
    return `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`
  })
}

/** §3.3: the reference has no titles, `~/` for the root, a byte order mark, and no null fields. */
function halXml(body: string, row: Row, blank: readonly string[]): string {
  const given = (row.Links ?? []).map(({ Href }) => Href)
  let text = body.replaceAll(/(<link [^>]*?) title="[^"]*"/g, '$1')
  text = text.replaceAll(/href="\/([^"]*)"/g, (whole, path: string) =>
    given.includes(`/${path}`) ? whole : `href="~/${path}"`,
  )
  for (const name of blank) text = text.replace(`\n  <${name} />`, '')
  return `\ufeff${text.replaceAll(/&#xD;\n?(?![^<]*" )/g, '\n')}`
}

const TYPES: Readonly<Record<string, Shape>> = {
  'application/json': 'json',
  'text/json': 'json',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'application/hal+json': 'hal.json',
  'application/hal+xml': 'hal.xml',
}

const GUID = /^[{(]?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}[)}]?$|^[\da-f]{32}$/i

function guidOf(segment: string): string | null {
  const text = decodeURIComponent(segment).trim()
  if (!GUID.test(text)) return null
  const digits = text.toLowerCase().replaceAll(/[^\da-f]/g, '')
  if (/^0+$/.test(digits)) return null
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The first type of an Accept that the service knows, whatever its q is. */
function typeOf({ accept = '' }: IncomingHttpHeaders): string {
  const asked = accept.split(',').map((range) => (range.split(';')[0] ?? '').trim().toLowerCase())
  return asked.find((type) => Object.hasOwn(TYPES, type)) ?? 'application/json'
}

export interface OldService {
  readonly address: string
  readonly port: number
  /** What was asked: method, path and header fields. */
  readonly seen: {
    readonly method: string
    readonly path: string
    readonly headers: IncomingHttpHeaders
    readonly atMs: number
  }[]
  /** The most connections that were open at once. */
  readonly mostConnections: () => number
  close(): Promise<void>
}

/** Starts the service on any free port, or on the one that is named. */
export async function startOldService(
  faults: readonly Fault[] = [],
  port = 0,
  records = oldRecords(),
): Promise<OldService> {
  const byId = new Map(records.map((record) => [record.id, record]))
  const asked = new Map<string, number>()
  const seen: OldService['seen'] = []
  let connections = 0
  let most = 0
  const find = (path: string): OldRecord | 400 | 404 => {
    const [, list = '', segment = '', venue = ''] =
      /^(?:\/api)?\/(events|venues)\/([^/]*)(\/venue)?\/?$/i.exec(path) ?? []
    if (list === '') return 404
    const id = guidOf(segment)
    if (id === null) return 400
    const record = byId.get(id)
    if (record?.kind !== (list.toLowerCase() === 'events' ? 'event' : 'venue')) return 404
    if (venue === '') return record
    return record.venueId === null ? 404 : (byId.get(record.venueId) ?? 404)
  }
  const server = createServer((request, response) => {
    const { method = '', headers } = request
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const type = typeOf(headers)
    seen.push({ method, path: request.url ?? '', headers, atMs: performance.now() })
    const times = (asked.get(`${method} ${path} ${type}`) ?? 0) + 1
    asked.set(`${method} ${path} ${type}`, times)
    const found = find(path)
    const record = typeof found === 'number' ? null : found
    const answer = answerOf(found, method, type)
    for (const fault of faults) fault(answer, { method, path, type, record, times })
    setTimeout(() => {
      response.writeHead(answer.status, { 'content-length': String(answer.body.length), ...answer.headers })
      response.end(method === 'HEAD' ? undefined : answer.body)
    }, answer.delayMs)
  })
  server.on('connection', (socket) => {
    most = Math.max(most, ++connections)
    socket.on('close', () => connections--)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : 0
  return {
    address: `http://127.0.0.1:${bound}`,
    port: bound,
    seen,
    mostConnections: () => most,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answerOf(found: OldRecord | 400 | 404, method: string, type: string): OldAnswer {
  const message = (status: number, text: string): OldAnswer => {
    const isXml = type.endsWith('xml')
    const body = isXml ? `<Error><Message>${text}</Message></Error>` : JSON.stringify({ Message: text })
    const headers = {
      'content-type': `${isXml ? 'application/xml' : 'application/json'}; charset=utf-8`,
      server: 'Microsoft-IIS/10.0',
    }
    return { status, headers, body: Buffer.from(body), delayMs: 0 }
  }
  if (method !== 'GET') return message(405, 'The requested resource does not support this method.')
  if (found === 400) return message(400, 'The request is invalid.')
  if (found === 404) return message(404, 'Not found.')
  const shape = TYPES[type] ?? 'json'
  const text = found.bodies[shape]
  // The reference throws where HAL XML would need a character that XML does not have.
  if (shape === 'hal.xml' && text.includes('\ufffd')) return message(500, 'An error has occurred.')
  const headers = {
    'content-type': shape === 'hal.xml' ? type : `${type}; charset=utf-8`,
    etag: `"${createHash('md5').update(text).digest('hex')}"`,
    server: 'Microsoft-IIS/10.0',
    'x-aspnet-version': '4.0.30319',
  }
  return { status: 200, headers, body: Buffer.from(text), delayMs: 0 }
}

/** Changes the text of an answer with a record. */
function edit(answer: OldAnswer, change: (text: string) => string): void {
  if (answer.status === 200) answer.body = Buffer.from(change(answer.body.toString('utf8')))
}

const isFirst = ({ record, path, method }: OldCall): boolean =>
  method === 'GET' && record?.name === 'a1-event-full' && path === `/api/events/${record.id}`

/** Faults that are planted in the first event. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  offset: (answer, call) =>
    isFirst(call) && edit(answer, (text) => text.replace('2014-11-22T19:30:00+00:00', '2014-11-22T20:30:00+01:00')),
  float: (answer, call) => isFirst(call) && edit(answer, (text) => text.replace('12.50', '12.500000000000002')),
  link: (answer, call) =>
    isFirst(call) &&
    edit(answer, (text) =>
      text
        .replace(/,\{"Rel":"venue"[^}]*\}/, '')
        .replace(/,"venue":\{[^}]*\}/, '')
        .replace(/<Link><Href>[^<]*<\/Href><Rel>venue<\/Rel>.*?<\/Link>/, '')
        .replace(/\n {2}<link rel="venue"[^>]*>/, ''),
    ),
  order: (answer, call) =>
    isFirst(call) &&
    edit(answer, (text) =>
      text
        .replace(/("TicketCapacity":250),("TicketsAvailable":42)/, '$2,$1')
        .replace(/(<TicketCapacity>250<\/TicketCapacity>)(\s*)(<TicketsAvailable>42<\/TicketsAvailable>)/, '$3$2$1'),
    ),
  space: (answer, call) =>
    isFirst(call) &&
    edit(answer, (text) =>
      text
        .replaceAll('":', '": ')
        .replace(/\/>/, '  />')
        .replace(/<\/(Id|Href)>/, '</$1 >'),
    ),
  mark: (answer, call) => isFirst(call) && edit(answer, (text) => `\ufeff${text.replace('\ufeff', '')}`),
  charset: ({ headers }, call) => {
    if (isFirst(call)) headers['content-type'] = call.type
  },
  withheld: (answer, call) => {
    if (isFirst(call)) Object.assign(answer, answerOf(404, 'GET', call.type))
  },
  etag: ({ headers }, { times }) => {
    if (headers['etag'] !== undefined) headers['etag'] = `"${times}-${Math.random()}"`
  },
  noEtag: ({ headers }, call) => {
    if (isFirst(call)) delete headers['etag']
  },
  once500: (answer, { times }) => {
    if (times === 1) Object.assign(answer, { status: 500, body: Buffer.from('{}') })
  },
  broken: (answer, call) => {
    if (isFirst(call)) Object.assign(answer, { status: 500, body: Buffer.from('{}') })
  },
  slow: (answer, call) => {
    if (isFirst(call)) answer.delayMs = 300
  },
  busy: (answer, { times }) => {
    if (times === 1) Object.assign(answer, { status: 429, headers: { 'retry-after': '0' } })
  },
  changes: (answer, call) =>
    isFirst(call) &&
    edit(answer, (text) => text.replace(/(TicketsAvailable\W+)42/, `$1${40 + Math.min(call.times, 2)}`)),
  restless: (answer, call) =>
    isFirst(call) && edit(answer, (text) => text.replace(/Annual Dinner/, `Dinner ${call.times}`)),
  gzip: (answer) => {
    answer.body = gzipSync(answer.body)
    answer.headers['content-encoding'] = 'gzip'
  },
  login: (answer, call) => {
    if (isFirst(call))
      Object.assign(answer, { status: 302, headers: { location: 'https://login.example.org/?token=secret' } })
  },
  loginPage: (answer, call) => {
    if (!isFirst(call)) return
    Object.assign(answer, { headers: { 'content-type': 'text/html', etag: '"1"' }, body: Buffer.from('<p>Sign in') })
  },
  down: (answer) => {
    Object.assign(answer, { status: 503, headers: { 'retry-after': '0' }, body: Buffer.from('') })
  },
}

/** The records as the two lists of a files CRM. */
export function listsOfRecords(records: readonly OldRecord[] = oldRecords()): {
  readonly events: string
  readonly venues: string
} {
  const rows = (kind: OldRecord['kind']): string =>
    `[${records
      .filter((record) => record.kind === kind)
      .map(({ row }) => row)
      .join(',')}]`
  return { events: rows('event'), venues: rows('venue') }
}

if (import.meta.main) {
  const [port = '8090', folder, ...names] = process.argv.slice(2)
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true })
    for (const [list, text] of Object.entries(listsOfRecords())) writeFileSync(join(folder, `${list}.json`), text)
  }
  const { address } = await startOldService(
    names.map((name) => FAULTS[name] ?? (() => {})),
    Number(port),
  )
  console.log(`An older service answers at ${address}`)
}
