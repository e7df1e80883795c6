import type { DateFormat } from '../domain/date-format.ts'
import type { Column } from './column.ts'
import { commonFormats, currenciesOf, decimalSign, joinedFormats, lookAtColumn } from './column.ts'
import { bareName, EVENT_NAMES, VENUE_NAMES, YES_WORDS } from './field-names.ts'
import type { Table } from './table.ts'

/** A line of the configuration: what stands there, and what was seen that speaks for it. */
export interface Line {
  readonly key: string
  readonly value: string
  readonly evidence: string
}

export interface ListProposal {
  readonly table: Table
  readonly fields: readonly Line[]
  readonly more: readonly Line[]
  readonly texts: readonly Line[]
}

export interface Proposal {
  readonly events: ListProposal | null
  readonly venues: ListProposal | null
  readonly needsNamespace: boolean
  /** Some dates have no offset. */
  readonly needsZone: boolean
}

/** What `check` refuses until somebody has written an answer there. */
export const OPEN = "'?'"

function hasDates({ columns }: Looked): boolean {
  return columns.some(({ kind }) => kind === 'date' || kind === 'date-time')
}

interface Looked {
  readonly table: Table
  readonly columns: readonly Column[]
}

/** Proposes how files are read: by what is in them first, by what their columns are called second. */
export function propose(tables: readonly Table[]): Proposal {
  const looked = tables.map((table): Looked => ({
    table,
    columns: table.header.map((name, index) =>
      lookAtColumn(
        name,
        table.rows.map((row) => row[index] ?? null),
      ),
    ),
  }))
  const events = looked.find(hasDates) ?? null
  const venues = looked.find((one) => one !== events) ?? null
  const link = events === null || venues === null ? null : linkOf(events, venues)
  const eventsProposal = events === null ? null : eventsOf(events, link)
  const venuesProposal = venues === null ? null : venuesOf(venues, link)
  const ids = [idOf(events, null), idOf(venues, link?.id ?? null)]
  const dates = events?.columns.filter(({ kind }) => kind === 'date' || kind === 'date-time') ?? []
  return {
    events: eventsProposal,
    venues: venuesProposal,
    needsNamespace: ids.some((id) => id !== null && !id.isGuid),
    needsZone: dates.some(({ filled }) => filled.some((value) => !/(?:Z|[+-]\d\d:?\d\d)$/.test(value))),
  }
}

/** The column of the events that holds what one column of the venues holds once each. */
interface Link {
  readonly from: Column
  readonly id: Column
}

function linkOf(events: Looked, venues: Looked): Link | null {
  let best: Link | null = null
  let most = 0
  for (const id of venues.columns) {
    if (!id.isUnique || id.filled.length === 0) continue
    const values = new Set(id.filled)
    for (const from of events.columns) {
      if (from.filled.length === 0 || from.kind === 'date-time' || from.kind === 'date' || from.kind === 'time')
        continue
      const share = from.filled.filter((value) => values.has(value)).length / from.filled.length
      // A number may be in both by chance: a name of the venue says more.
      const score = share * (from.kind === 'number' && !isNamed(from, EVENT_NAMES['VenueId']) ? 0.5 : 1)
      if (share > 0.8 && score > most) [best, most] = [{ from, id }, score]
    }
  }
  return best
}

function isNamed(column: Column, names: readonly string[] | undefined): boolean {
  return names?.includes(bareName(column.name)) === true
}

/** The first column that one of the names fits best and that is not taken. */
function named(
  columns: readonly Column[],
  names: readonly string[] | undefined,
  taken: ReadonlySet<Column>,
): Column | null {
  for (const name of names ?? []) {
    const found = columns.find((column) => !taken.has(column) && bareName(column.name) === name)
    if (found !== undefined) return found
  }
  return (
    columns.find(
      (column) =>
        !taken.has(column) && names?.some((name) => name.length > 3 && bareName(column.name).startsWith(name)) === true,
    ) ?? null
  )
}

function idOf(looked: Looked | null, linked: Column | null): Column | null {
  if (looked === null) return null
  const unique = looked.columns.filter(({ isUnique, filled }) => isUnique && filled.length > 0)
  return linked ?? unique.find(({ isGuid }) => isGuid) ?? named(unique, EVENT_NAMES['Id'], new Set()) ?? null
}

function eventsOf({ table, columns }: Looked, link: Link | null): ListProposal {
  const taken = new Set<Column>()
  const fields: Line[] = []
  const add = (key: string, column: Column | null, evidence: (found: Column) => string): void => {
    if (column === null) return
    taken.add(column)
    fields.push({ key, value: quoted(column.name), evidence: evidence(column) })
  }
  const id = idOf({ table, columns }, null)
  if (id === null)
    fields.push({ key: 'Id', value: '[]', evidence: 'which column has another value in each row? Name it here' })
  add(
    'Id',
    id,
    ({ filled, isGuid }) =>
      `${counted(filled.length)} different ones${isGuid ? ', all GUIDs' : ''}; ${example(filled)}`,
  )
  if (link !== null) taken.add(link.from)
  add(
    'Name',
    named(
      columns.filter(({ kind }) => kind === 'text'),
      EVENT_NAMES['Name'],
      taken,
    ),
    byName,
  )
  if (link !== null)
    fields.push({
      key: 'VenueId',
      value: quoted(link.from.name),
      evidence: `holds what ${link.id.name} of the venues holds; ${example(link.from.filled)}`,
    })
  const dates = datesOf(columns, taken)
  fields.push(...dates.lines)
  const numbers = columns.filter(({ kind, filled }) => kind === 'number' && filled.length > 0)
  const capacity = named(numbers, EVENT_NAMES['TicketCapacity'], taken)
  add('TicketCapacity', capacity, fits)
  const available = named(numbers, EVENT_NAMES['TicketsAvailable'], taken)
  const sold = named(numbers, EVENT_NAMES['Sold'], taken)
  if (available !== null) add('TicketsAvailable', available, fits)
  else if (capacity !== null && sold !== null) {
    taken.add(sold)
    fields.push({
      key: 'TicketsAvailable',
      value: `{ subtract: [${quoted(capacity.name)}, ${quoted(sold.name)}] }`,
      evidence: fits(sold),
    })
  }
  add('Price', named(numbers, EVENT_NAMES['Price'], taken), fits)
  const tags = named(
    columns.filter(({ kind }) => kind === 'text'),
    EVENT_NAMES['Tags'],
    taken,
  )
  add('Tags', tags, ({ distinct, filled }) => `${counted(distinct)} different texts; ${example(filled)}`)
  const used = new Set(
    [capacity, available, sold, ...numbers.filter((column) => taken.has(column))].filter((column) => column !== null),
  )
  return {
    table,
    fields,
    more: [
      showOnWebOf(columns, taken),
      { key: 'active', value: 'null', evidence: 'no column says that an event is not active' },
    ],
    texts: textsOf(table, [...used], dates.formats, tags),
  }
}

function showOnWebOf(columns: readonly Column[], taken: ReadonlySet<Column>): Line {
  const column = named(
    columns.filter(({ distinct }) => distinct <= 4),
    EVENT_NAMES['ShowOnWeb'],
    taken,
  )
  const values = column === null ? [] : [...new Set(column.filled)]
  const yes = values.filter((value) => YES_WORDS.has(value.toLowerCase()))
  if (column === null || yes.length === 0) {
    const evidence = 'which events are for the web? { COLUMN: [VALUE] }, or null for all'
    return { key: 'showOnWeb', value: OPEN, evidence }
  }
  const evidence = `${counted(column.filled.filter((value) => yes.includes(value)).length)} of ${counted(column.values.length)} rows; the column holds ${values.map(quoted).join(', ')}`
  return { key: 'showOnWeb', value: `{ ${quoted(column.name)}: [${yes.map(quoted).join(', ')}] }`, evidence }
}

interface Dates {
  readonly lines: readonly Line[]
  readonly formats: readonly DateFormat[]
}

function datesOf(columns: readonly Column[], taken: Set<Column>): Dates {
  const moments = columns.filter(({ kind }) => kind === 'date-time')
  const [day] = columns.filter(({ kind }) => kind === 'date')
  const times = columns.filter(({ kind }) => kind === 'time')
  const wholes = moments.toSorted((left, right) => rank(left, 'Start') - rank(right, 'Start'))
  const [start, finish] = wholes
  if (start !== undefined) {
    taken.add(start)
    if (finish !== undefined) taken.add(finish)
    return {
      lines: [dateLine('Start', start), finish === undefined ? NO_FINISH : dateLine('Finish', finish)],
      formats: commonFormats(finish === undefined ? [start] : [start, finish]),
    }
  }
  if (day === undefined) return { lines: [], formats: [] }
  taken.add(day)
  const [begins, ends] = times.toSorted((left, right) => rank(left, 'Start') - rank(right, 'Start'))
  if (begins === undefined) return { lines: [dateLine('Start', day), NO_FINISH], formats: day.formats }
  taken.add(begins)
  if (ends !== undefined) taken.add(ends)
  const blank = ends === undefined ? 0 : ends.values.length - ends.filled.length
  const lasting = blank === 0 ? '' : `, whenBlank: { lasting: ${OPEN} }`
  const finishLine: Line =
    ends === undefined
      ? NO_FINISH
      : {
          key: 'Finish',
          value: `{ join: [${quoted(day.name)}, ${quoted(ends.name)}]${lasting} }`,
          evidence:
            blank === 0
              ? evidenceOf(ends)
              : `${blank === 1 ? '1 row has' : `${counted(blank)} rows have`} no end: how long do they last, such as 2h30m?`,
        }
  const startLine = {
    key: 'Start',
    value: `{ join: [${quoted(day.name)}, ${quoted(begins.name)}] }`,
    evidence: `${evidenceOf(day)}, and ${begins.filled[0] ?? ''}`,
  }
  return { lines: [startLine, finishLine], formats: joinedFormats(day, begins) }
}

const NO_FINISH: Line = {
  key: 'Finish',
  value: `{ lasting: ${OPEN} }`,
  evidence: 'no column says when events end: how long do they last, such as 2h30m?',
}

/** Start before Finish by their names, else as the columns stand. */
function rank(column: Column, field: 'Start' | 'Finish'): number {
  if (isNamed(column, EVENT_NAMES['Finish'])) return 2
  return isNamed(column, EVENT_NAMES[field]) ? 0 : 1
}

function dateLine(key: string, column: Column): Line {
  return { key, value: quoted(column.name), evidence: evidenceOf(column) }
}

function venuesOf({ table, columns }: Looked, link: Link | null): ListProposal {
  const taken = new Set<Column>()
  const fields: Line[] = []
  const id = idOf({ table, columns }, link?.id ?? null)
  if (id === null)
    fields.push({ key: 'Id', value: '[]', evidence: 'which column has another value in each row? Name it here' })
  else
    fields.push({
      key: 'Id',
      value: quoted(id.name),
      evidence: `${counted(id.filled.length)} different ones; ${example(id.filled)}`,
    })
  for (const [field, names] of Object.entries(VENUE_NAMES)) {
    if (field === 'Id') continue
    const column = named(columns, names, taken)
    if (column === null || column.filled.length === 0) continue
    taken.add(column)
    fields.push({ key: field, value: quoted(column.name), evidence: byName(column) })
  }
  const places = [...taken].filter(({ name }) =>
    isNamed({ ...PLACE, name }, [...(VENUE_NAMES['Latitude'] ?? []), ...(VENUE_NAMES['Longitude'] ?? [])]),
  )
  return {
    table,
    fields,
    more: [{ key: 'active', value: 'null', evidence: 'no column says that a venue is not active' }],
    texts: textsOf(table, places, [], null),
  }
}

const PLACE = lookAtColumn('', [])

function textsOf(
  table: Table,
  numbers: readonly Column[],
  formats: readonly DateFormat[],
  tags: Column | null,
): readonly Line[] {
  if (table.isTyped) return []
  const lines: Line[] = []
  const add = (key: string, value: string, evidence: string): void => void lines.push({ key, value, evidence })
  if (!table.isWorkbook) {
    const sign = { '\t': 'tab' }[table.delimiter ?? ''] ?? `'${table.delimiter ?? ','}'`
    add('delimiter', sign, `${counted(table.header.length)} columns in ${counted(table.rows.length)} rows`)
    add('encoding', table.encoding, table.encoding === 'windows-1252' ? 'the bytes are not UTF-8' : 'every byte fits')
    const written = numbers.flatMap(({ filled }) => filled)
    const { sign: decimal, example: shown } = decimalSign(written)
    if (decimal === 'both')
      add('decimal', OPEN, `is ${shown} written with a decimal comma (',') or a decimal point ('.')?`)
    else if (decimal !== null) add('decimal', quoted(decimal), `e.g. ${shown}`)
    const currencies = currenciesOf(written)
    if (currencies.length > 0)
      add('currency', `[${currencies.map(quoted).join(', ')}]`, 'stands beside numbers, and is not read')
  }
  if (table.headerRow !== 1) add('headerRow', String(table.headerRow), table.header.slice(0, 4).join(', '))
  if (formats.length > 0) lines.push(datesLine(formats))
  const separators = [';', ',', '/', '|'].filter((sign) => tags?.filled.some((value) => value.includes(sign)) === true)
  if (separators.length > 0) add('tags', `[${separators.map(quoted).join(', ')}]`, example(tags?.filled ?? []))
  return lines
}

export function isMonthFirst({ written }: DateFormat): boolean {
  return written.startsWith('M')
}

function datesLine(formats: readonly DateFormat[]): Line {
  const [first] = formats
  const other = first === undefined ? undefined : formats.find((one) => isMonthFirst(one) !== isMonthFirst(first))
  if (first !== undefined && other !== undefined) {
    return {
      key: 'dates',
      value: OPEN,
      evidence: `the dates fit both [${first.written}] and [${other.written}]: which is it?`,
    }
  }
  return { key: 'dates', value: `[${quoted(first?.written ?? '')}]`, evidence: 'what the dates fit' }
}

function byName({ filled }: Column): string {
  return `by its name; ${example(filled)}`
}

function fits({ filled, fit }: Column): string {
  return `${counted(fit)} of ${counted(filled.length)} are numbers; ${example(filled)}`
}

function evidenceOf({ filled, fit }: Column): string {
  return `${counted(fit)} of ${counted(filled.length)} fit; ${example(filled)}`
}

function example(filled: readonly string[]): string {
  return `e.g. ${(filled[0] ?? 'nothing').slice(0, 40)}`
}

function counted(count: number): string {
  return count.toLocaleString('en')
}

/** As YAML takes it for a text, whatever it holds. */
export function quoted(text: string): string {
  const isPlain = /^\p{L}[\p{L}\p{N} _-]*\p{L}$/u.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
  return isPlain ? text : JSON.stringify(text)
}
