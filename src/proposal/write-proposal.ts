// Proposes a configuration for list files, for `init --from`. In: tables. Out: the lines of a configuration, with
// evidence.

import { randomUUID } from 'node:crypto'
import { dirname, relative } from 'node:path'
import { type Line, comment, example, OPEN, quoted } from './line.ts'
import { howMany } from '../domain/printable.ts'
import type { Table } from './table.ts'
import { type Column, isMoment } from './column.ts'
import { type ListProposal, eventsOf, whyNot } from './events.ts'
import type { FurtherProposal } from './further-columns.ts'
import { hasMail, listsPeople, listTables, mayListEvents } from './list-tables.ts'
import { venuesOf, venuesWithin } from './venues.ts'

/** The `crm` section of a configuration with evidence as comments, its open questions, and notes on what is missing. */
export interface WrittenProposal {
  readonly text: string
  readonly questions: readonly string[]
  readonly missing: readonly string[]
}

export interface ProposalContext {
  readonly cwd: string
  /** The namespace of the replaced configuration, as YAML; `null` to generate one. */
  readonly idNamespace: string | null
}

/** Finds out how the tables have to be read, and writes it. */
export function writeProposal(tables: readonly Table[], { cwd, idNamespace }: ProposalContext): WrittenProposal {
  const lists = propose(tables, cwd)
  const [events, venues] = (['events', 'venues'] as const).map((name) => lists.find(({ list }) => list === name))
  const local = lists.find(({ table }) => !table.isOnWeb)
  const directory = local === undefined ? cwd : dirname(local.table.path)
  // A list for which no file was given is looked for in the directory.
  const needsDirectory = local !== undefined || lists.length < 2
  const namespace: Line = {
    key: 'idNamespace',
    value: idNamespace ?? randomUUID(),
    evidence:
      idNamespace === null
        ? 'the ids are not GUIDs; keep this UUID: ids are derived from it'
        : 'this UUID was kept from the replaced file: ids are derived from it',
  }
  const open = lists
    .flatMap((list) => [fromLine(list, directory), ...list.fields, ...list.more, ...list.texts])
    .filter(({ value }) => value.includes(OPEN))
  const missing = [
    ...tables.flatMap((table) =>
      leftOutOf(
        table,
        lists.filter((list) => list.table === table),
      ),
    ),
    ...tables.filter((table) => !lists.some((list) => list.table === table)).map((table) => unusedTable(table, lists)),
  ]
  if (events?.table.columns.some(needsZone) === true)
    missing.push('timeZone is not set: dates without an offset are read as UTC')
  if (events === undefined) missing.push('events: no file has dates, which events need')
  if (venues === undefined)
    missing.push(
      'venues: no file of venues was given. For an empty list, create venues.csv with the one line Id,Name. If a column is the place, see "The place in the event’s row" in docs/files-as-exported.md.',
    )
  const lines = [
    ...(open.length === 0
      ? []
      : ['  # Answer each QUESTION: write your answer for the question mark, and delete the comment.']),
    '  kind: files',
    ...(needsDirectory ? [`  directory: ${quoted(relative(cwd, directory) || '.')}`] : []),
    ...(idNamespace !== null || lists.some(({ needsNamespace }) => needsNamespace) ? written([namespace], 2) : []),
    ...lists.flatMap((list) => listLines(list, directory)),
    ...missing.map((what) => `  # ${comment(what)}`),
    ...declarations(lists),
    '',
  ]
  return { text: lines.join('\n'), questions: open.map(({ key, evidence }) => `${key}: ${evidence}`), missing }
}

/** Returns true if a column has dates without an offset. */
function needsZone(column: Column): boolean {
  return isMoment(column) && column.texts.some(({ text }) => !/\d:\d.*(?:Z|[+-]\d\d:?\d\d)$/.test(text))
}

function fromLine({ table, doubt }: ListProposal, directory: string): Line {
  const value = nameOf(table, directory)
  if (doubt === null) return { key: 'from', value, evidence: howMany(table.rows, 'row') }
  return { key: 'from', value: OPEN, evidence: doubt }
}

/** How a configuration names a table. */
function nameOf({ path, sheet, isOnWeb }: Table, directory: string): string {
  const name = quoted(isOnWeb ? path : relative(directory, path))
  return sheet === null ? name : `{ ${isOnWeb ? 'url' : 'file'}: ${name}, sheet: ${quoted(sheet)} }`
}

function listLines(proposal: ListProposal, directory: string): readonly string[] {
  const { list, table, texts, fields, more, further } = proposal
  const path =
    table.listPath === null ? [] : [{ key: 'rows', value: quoted(table.listPath), evidence: 'the list in the file' }]
  return [
    `  ${list}:`,
    ...written([fromLine(proposal, directory), ...path], 4),
    ...(texts.length === 0 ? [] : ['    texts:', ...written(texts, 6)]),
    '    fields:',
    ...written(fields, 6),
    ...further.map((line) => `      ${isWritten(line) ? '' : '# '}${written([line], 0).join('')}`),
    ...written(more, 4),
  ]
}

/** Declares the further fields that the lists propose, as a comment: publishing them is a decision. */
function declarations(lists: readonly ListProposal[]): readonly string[] {
  const declared = lists.filter(({ further }) => further.length > 0)
  if (declared.length === 0) return []
  const isActive = declared.some(({ further }) => further.some(isWritten))
  const mark = isActive ? '' : '# '
  return [
    '',
    '# Further fields, from columns that no field reads. To publish one, remove "# " before it here and under crm.',
    `${mark}representation:`,
    `${mark}  further:`,
    ...declared.flatMap(({ list, further }) => [
      `${further.some(isWritten) ? '' : '# '}    ${list}:`,
      ...further.map((line) => `${isWritten(line) ? '' : '# '}      ${line.key}: ${line.type}`),
    ]),
    ...ticketLinks(declared),
  ]
}

function isWritten({ isActive }: FurtherProposal): boolean {
  return isActive === true
}

/** Makes a link of the field that holds the addresses of tickets. */
function ticketLinks(lists: readonly ListProposal[]): readonly string[] {
  const links = lists.find(({ list }) => list === 'events')?.further ?? []
  const tickets = links.find(
    ({ key, type }) => type === 'url' && /ticket|karten|billet|entrada|bigliett|kaart|buchung|booking/i.test(key),
  )
  return tickets === undefined ? [] : ['#   links:', `#     event: [{ rel: tickets, href: '{+${tickets.key}}' }]`]
}

function written(lines: readonly Line[], indent: number): readonly string[] {
  return lines.map(({ key, value, evidence }) => {
    return `${' '.repeat(indent)}${key}: ${value}   # ${value.includes(OPEN) ? 'QUESTION: ' : ''}${comment(evidence)}`
  })
}

/** Proposes how to read the tables: by their contents first, by the names of columns second. */
function propose(tables: readonly Table[], cwd: string): readonly ListProposal[] {
  const { events, venues, within } = listTables(tables)
  const link = venues?.link ?? null
  const ofRows = events === null || within.length === 0 ? null : venuesWithin(events.table, within)
  const place = ofRows === null ? (link === null ? null : { link }) : { within, address: ofRows.taken }
  return [
    ...(events === null ? [] : [eventsOf(events.table, place, choiceOf(events.rivals, cwd), venues !== null)]),
    ...(venues === null ? [] : [venuesOf(venues.table, link, doubtOf(venues.rivals))]),
    ...(ofRows === null ? [] : [ofRows]),
  ]
}

/** The question which table is the events; `null` if that is clear. */
function choiceOf(rivals: readonly Table[], cwd: string): string | null {
  const [first, ...others] = rivals
  if (first === undefined) return null
  const all = rivals.map(({ title, rows }) => `${title} (${howMany(rows, 'row')})`).join(' or ')
  const again = others.map((table) => `'${argumentOf(table, cwd)}'`).join(' or ')
  return `Which is the list of events: ${all}? For the first, write ${nameOf(first, dirname(first.path))} here: the lines below are for it. For the other, run init again with --replace --from ${again}.`
}

function doubtOf([table]: readonly Table[]): string | null {
  if (table === undefined) return null
  const names = table.columns
    .slice(0, 4)
    .map(({ name }) => name)
    .join(', ')
  const name = nameOf(table, dirname(table.path))
  return `Is ${table.title} (${howMany(table.rows, 'row')}; ${names}) the list of venues? Write ${name} here; if it is not, delete venues: and the lines below it.`
}

/** How `--from` names a table. */
function argumentOf({ path, sheet, called, title, file, isOnWeb }: Table, cwd: string): string {
  const name = isOnWeb ? path : relative(cwd, path)
  return title === file && sheet === null ? name : `${name}#${sheet ?? called}`
}

/** Says why no list is made of a table. */
function unusedTable(table: Table, lists: readonly ListProposal[]): string {
  if (listsPeople(table) || hasMail(table)) return `${table.title}: not used, as it lists people`
  const isRival = mayListEvents(table) || lists.some(({ list, doubt }) => list === 'events' && doubt !== null)
  return isRival && lists.some(({ list }) => list === 'events')
    ? `${table.title}: not used, as another table was taken for the events`
    : `${table.title}: not used, as it contains neither events nor venues`
}

/** Describes the columns that the proposal does not read, with the likely reason, and what was not examined. */
function leftOutOf(
  { title, columns, examined, ragged, unnamed, headerRow, delimiter }: Table,
  lists: readonly ListProposal[],
): readonly string[] {
  if (lists.length === 0) return []
  const unread = columns
    .filter((column) => column.filled > 0 && !lists.some(({ taken }) => taken.has(column)))
    .map((column) => `${column.name} (${valuesIn(column)}${example(column)}${whyNot(column)})`)
  return [
    ...(unread.length === 0 ? [] : [`${title}: not used: ${unread.join(', ')}`]),
    ...(unnamed.length === 0
      ? []
      : [
          `${title}: ${howMany(unnamed.length, 'column')} without a name in row ${headerRow} ${unnamed.length === 1 ? 'is' : 'are'} not read (${unnamed.slice(0, 3).join('; ')}); write all names into that row`,
        ]),
    ...(ragged === null
      ? []
      : [`${title}: ${ragged}: enclose a cell that contains ${JSON.stringify(delimiter)} in double quotes`]),
    ...(examined === null
      ? []
      : [
          `${title}: only the first ${howMany(examined, 'row')} and ${howMany(columns.length, 'column')} were examined`,
        ]),
  ]
}

/** Tells blank cells apart. */
function valuesIn({ filled, cells }: Column): string {
  return filled === cells.length ? '' : `${howMany(filled, 'value')} in ${howMany(cells.length, 'row')}; `
}
