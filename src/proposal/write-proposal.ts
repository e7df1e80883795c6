// Proposes a configuration for list files, for `init --from`. In: tables. Out: the lines of a configuration, with
// evidence.

import { randomUUID } from 'node:crypto'
import { dirname, relative } from 'node:path'
import { type Line, comment, OPEN, quoted, counted, example, byName, lineOf } from './line.ts'
import { howMany } from '../domain/printable.ts'
import type { RaggedRows } from './read-rows.ts'
import type { Table } from './table.ts'
import { type Column, ENOUGH, isMoment } from './column.ts'
import { activeOf, showOnWebOf } from './condition-columns.ts'
import { EVENT_NAMES, isNamed, named, namedWithin, momentRole } from './field-names.ts'
import { type FurtherProposal, furtherColumns } from './further-columns.ts'
import { type VenueLink, idLine, idField, linkOf, venueIdOf } from './id-columns.ts'
import { datesOf } from './moments.ts'
import { textLines } from './text-keys.ts'
import { venueFields } from './venues.ts'

/** The `crm` section of a configuration with evidence as comments, its open questions, and notes on what is missing. */
export interface WrittenProposal {
  readonly text: string
  readonly questions: readonly string[]
  readonly missing: readonly string[]
}

export interface ProposalContext {
  readonly cwd: string
  /** Sentences about hidden sheets that were left out. */
  readonly hidden: readonly string[]
  /** The namespace of the replaced configuration, as YAML; `null` to generate one. */
  readonly idNamespace: string | null
}

/** Finds out how the tables have to be read, and writes it. */
export function writeProposal(
  tables: readonly Table[],
  { cwd, hidden, idNamespace }: ProposalContext,
): WrittenProposal {
  const { events, venues, needsNamespace, needsZone, unused } = propose(tables)
  const lists = [events, venues].filter((list) => list !== null)
  const local = lists.find(({ table }) => !table.isOnWeb)
  const directory = local === undefined ? cwd : dirname(local.table.path)
  // A list for which no file was given is looked for in the directory.
  const needsDirectory = local !== undefined || events === null || venues === null
  const namespace: Line = {
    key: 'idNamespace',
    value: idNamespace ?? randomUUID(),
    evidence:
      idNamespace === null
        ? 'the ids are not GUIDs; keep this UUID: ids are derived from it'
        : 'this UUID was kept from the replaced file: ids are derived from it',
  }
  const lines = [
    '  kind: files',
    ...(needsDirectory ? [`  directory: ${quoted(relative(cwd, directory) || '.')}`] : []),
    ...(needsNamespace || idNamespace !== null ? written([namespace], 2) : []),
    ...(events === null ? [] : listLines('events', events, directory)),
    ...(venues === null ? [] : listLines('venues', venues, directory)),
  ]
  const all = lists.flatMap(({ fields, more, texts }) => [...fields, ...more, ...texts])
  const open = all.filter(({ value }) => value.includes(OPEN))
  const missing = [
    ...lists.flatMap(({ table, leftOut }) =>
      leftOut.length === 0 ? [] : [`${table.title}: not used: ${leftOut.join(', ')}`],
    ),
    ...lists.flatMap(({ table }) =>
      table.hasMoreNames ? [`${table.title}: has more than 2,000 columns; the others were not examined`] : [],
    ),
    ...lists.flatMap(({ table }) =>
      table.raggedRows === null ? [] : [`${table.title}: ${raggedText(table.raggedRows, table.delimiter)}`],
    ),
    ...hidden,
    ...unused.map((table) => `${table.title}: not used, as it contains neither events nor venues`),
    ...(needsZone ? ['timeZone is not set: dates without an offset are read as UTC'] : []),
    ...(events === null ? ['events: no file has dates, which events need'] : []),
    ...(venues === null
      ? ['venues: no file of venues was given. For an empty list, create venues.csv with the one line Id,Name.']
      : []),
  ]
  return {
    text: [...lines, ...missing.map((what) => `  # ${comment(what)}`), ...declarations(events, venues), ''].join('\n'),
    questions: open.map(({ key, evidence }) => `${key}: ${evidence}`),
    missing,
  }
}

function raggedText({ rows, firstRow, cells, headerCells }: RaggedRows, delimiter: string | null): string {
  const which =
    rows === 1 ? `row ${firstRow} has` : `${howMany(rows, 'row')}, the first of which is row ${firstRow}, have`
  const other = `${cells > headerCells ? 'more' : 'fewer'} cells than the header row (${cells} and ${headerCells})`
  return `${which} ${other}, and Marquee refuses such a file: enclose a cell that contains ${JSON.stringify(delimiter)} in double quotes`
}

function rowsOf({ rows, isWorkbook, file }: Table): string {
  const count = howMany(rows, 'row')
  return isWorkbook && /\.(?:csv|tsv|txt)$/i.test(file) ? `${count}; an Excel workbook despite its name` : count
}

function listLines(
  list: string,
  { table, texts, fields, more, further }: ListProposal,
  directory: string,
): readonly string[] {
  const name = quoted(table.isOnWeb ? table.path : relative(directory, table.path))
  const key = table.isOnWeb ? 'url' : 'file'
  const from = table.sheet === null ? name : `{ ${key}: ${name}, sheet: ${quoted(table.sheet)} }`
  return [
    `  ${list}:`,
    ...written([{ key: 'from', value: from, evidence: rowsOf(table) }], 4),
    ...(texts.length === 0 ? [] : ['    texts:', ...written(texts, 6)]),
    '    fields:',
    ...written(fields, 6),
    ...further.map((line) => `      # ${written([line], 0).join('')}`),
    ...written(more, 4),
  ]
}

/** Declares the further fields that the lists propose, as a comment: publishing them is a decision. */
function declarations(events: ListProposal | null, venues: ListProposal | null): readonly string[] {
  const lists = [
    ['events', events?.further ?? []],
    ['venues', venues?.further ?? []],
  ] as const
  const declared = lists.filter(([, further]) => further.length > 0)
  if (declared.length === 0) return []
  return [
    '',
    '# Further fields, from columns that no field reads. To publish one, remove "# " before it here and under crm.',
    '# representation:',
    '#   further:',
    ...declared.flatMap(([list, further]) => [
      `#     ${list}:`,
      ...further.map(({ key, type }) => `#       ${key}: ${type}`),
    ]),
  ]
}

function written(lines: readonly Line[], indent: number): readonly string[] {
  return lines.map(({ key, value, evidence }) => {
    return `${' '.repeat(indent)}${key}: ${value}   # ${value.includes(OPEN) ? 'QUESTION: ' : ''}${comment(evidence)}`
  })
}

interface ListProposal {
  readonly table: Table
  /** Columns that no field reads. */
  readonly leftOut: readonly string[]
  readonly fields: readonly Line[]
  readonly more: readonly Line[]
  readonly texts: readonly Line[]
  /** Further fields that columns could be. */
  readonly further: readonly FurtherProposal[]
}

interface Proposal {
  readonly events: ListProposal | null
  readonly venues: ListProposal | null
  readonly needsNamespace: boolean
  /** Whether some dates have no offset. */
  readonly needsZone: boolean
  /** Tables for which nothing is proposed. */
  readonly unused: readonly Table[]
}

/**
 * Finds the table of venues: the one that events refer to, else another file, but not another sheet of the events'
 * workbook.
 */
function venuesFor(events: Table | null, tables: readonly Table[]): readonly [Table | null, VenueLink | null] {
  const others = tables.filter((one) => one !== events)
  if (events === null) return [others[0] ?? null, null]
  const linked = others.flatMap((one) => {
    const link = linkOf(events.columns, one.columns)
    return link === null ? [] : [[one, link] as const]
  })
  const best = linked.find(([, link]) => link.isSure) ?? linked[0]
  return best ?? [others.find(({ path }) => path !== events.path) ?? null, null]
}

function saysStart(role: 'start' | 'date'): (one: Table) => boolean {
  return ({ columns }) => columns.some((column) => isMoment(column) && momentRole(column.name) === role)
}

/** Returns true if a column holds dates with two-digit years, which no format reads. */
function isShortYear({ texts, filled }: Column): boolean {
  const short = texts.reduce(
    (sum, { text, count }) => (/^\d{1,2}([./-])\d{1,2}\1\d\d(?!\d)/.test(text) ? sum + count : sum),
    0,
  )
  return short > 0 && short >= filled * ENOUGH
}

/** Proposes how to read the tables: by their contents first, by the names of columns second. */
function propose(tables: readonly Table[]): Proposal {
  const dated = tables.filter(({ columns }) => columns.some(isMoment))
  const events =
    dated.find(saysStart('start')) ??
    dated.find(saysStart('date')) ??
    dated[0] ??
    tables.find(({ columns }) => columns.some(isShortYear)) ??
    null
  const [venues, link] = venuesFor(events, tables)
  const ids = [
    events === null ? null : idField(events.columns),
    venues === null ? null : idField(venues.columns, link?.id),
  ]
  const dates = events?.columns.filter(isMoment) ?? []
  return {
    unused: tables.filter((one) => one !== events && one !== venues),
    events: events === null ? null : eventsOf(events, link, venues !== null),
    venues: venues === null ? null : venuesOf(venues, link),
    needsNamespace: ids.some((id) => id !== null && !id.isGuid),
    needsZone: dates.some(({ texts }) => texts.some(({ text }) => !/\d:\d.*(?:Z|[+-]\d\d:?\d\d)$/.test(text))),
  }
}

function eventsOf(table: Table, link: VenueLink | null, venuesAreKnown: boolean): ListProposal {
  const { columns } = table
  const id = idField(columns)
  const taken = new Set(
    [id, link?.from, ...besides(link, columns)].filter((column) => column !== null && column !== undefined),
  )
  const fields = [idLine(id, columns)]
  const take = (field: EventField, among: readonly Column[], evidence: (found: Column) => string): Column | null => {
    const within = field === 'Name' ? null : namedWithin(among, EVENT_NAMES[field], taken)
    const column = named(among, EVENT_NAMES[field], taken) ?? within
    if (column === null) return null
    taken.add(column)
    fields.push(lineOf(field, column, evidence(column)))
    return column
  }
  const ask = (field: EventField, question: string): void => {
    fields.push({ key: field, value: OPEN, evidence: `${question}.${meantFor(field, columns, taken)}` })
  }
  const texts = columns.filter(({ kind, filled }) => kind === 'text' && filled > 0)
  if (take('Name', texts, byName) === null)
    ask('Name', 'Which column is the title? Name it here, or write null for none')
  const venueId = venueIdOf(columns, link, venuesAreKnown)
  if (venueId !== null) fields.push(venueId)
  const dates = datesOf(columns, taken)
  fields.push(...dates.lines)
  const numbers = columns.filter(({ kind, filled }) => kind === 'number' && filled > 0)
  const capacity = take('TicketCapacity', numbers, fits)
  const available = take('TicketsAvailable', numbers, fits)
  const sold = available === null && capacity !== null ? named(numbers, EVENT_NAMES.Sold, taken) : null
  if (capacity !== null && sold !== null) {
    taken.add(sold)
    const value = `{ subtract: [${quoted(capacity.name)}, ${quoted(sold.name)}] }`
    fields.push({ key: 'TicketsAvailable', value, evidence: fits(sold) })
  } else if (available === null) {
    if (capacity === null) {
      ask(
        'TicketCapacity',
        'Which column is the total number of tickets? Name it here, or write null: every event then has 0',
      )
    }
    ask(
      'TicketsAvailable',
      'Which column is the number of tickets left? Name it here, or write null: all events are then sold out',
    )
  }
  if (take('Price', numbers, fits) === null)
    ask('Price', 'Which column is the price? Name it here, or write null: every price is then 0')
  const tags = take('Tags', texts, (column) => `${howMany(column.distinct, 'different text')}; ${example(column)}`)
  return {
    table,
    fields,
    more: [showOnWebOf(columns, taken), activeOf(columns, taken, 'event')],
    texts: textLines(
      table,
      numbers.filter((column) => taken.has(column)),
      dates,
      tags,
    ),
    leftOut: leftOutOf(columns, taken),
    further: furtherColumns('events', columns, taken),
  }
}

/** The other columns of the object with the event's venue, such as `venue.city`: the venues have their own. */
function besides(link: VenueLink | null, columns: readonly Column[]): readonly Column[] {
  const [object = '', ...within] = link?.from.name.split('.') ?? []
  return link === null || within.length === 0 ? [] : columns.filter(({ name }) => name.startsWith(`${object}.`))
}

type EventField = Exclude<keyof typeof EVENT_NAMES, 'Sold' | 'ShowOnWeb'>

/** Mentions the column that has the field's name but unsuitable contents. */
function meantFor(field: EventField, columns: readonly Column[], taken: ReadonlySet<Column>): string {
  const column = named(
    columns.filter(({ filled }) => filled > 0),
    EVENT_NAMES[field],
    taken,
  )
  return column === null ? '' : ` Is it ${column.name} (${example(column)}${whyNot(column)})?`
}

/** Describes the columns that the proposal does not read, with the likely reason. */
function leftOutOf(columns: readonly Column[], taken: ReadonlySet<Column>): readonly string[] {
  return columns
    .filter((column) => !taken.has(column) && column.filled > 0)
    .map((column) => `${column.name} (${example(column)}${whyNot(column)})`)
}

function whyNot(column: Column): string {
  if (isShortYear(column)) return '; years must have four digits'
  const number = (['Price', 'TicketCapacity', 'TicketsAvailable'] as const).find((field) =>
    isNamed(column, EVENT_NAMES[field]),
  )
  return number === undefined || column.kind === 'number'
    ? ''
    : `; ${number} needs numbers, and some values are not numbers`
}

function venuesOf(table: Table, link: VenueLink | null): ListProposal {
  const { fields, taken, places } = venueFields(table.columns, link)
  return {
    table,
    fields,
    more: [activeOf(table.columns, taken, 'venue')],
    texts: textLines(table, places, { formats: [], dayOnly: null }, null),
    leftOut: leftOutOf(table.columns, taken),
    further: furtherColumns('venues', table.columns, taken),
  }
}

function fits(column: Column): string {
  return `${counted(column.fit)} of ${counted(column.filled)} ${column.fit === 1 ? 'is a number' : 'are numbers'}; ${example(column)}`
}
