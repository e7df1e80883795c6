// Proposes a configuration for list files, for `init --from`. In: tables. Out: the lines of a configuration, with
// evidence.

import { randomUUID } from 'node:crypto'
import { dirname, relative } from 'node:path'
import { type Line, comment, example, OPEN, quoted } from './line.ts'
import { howMany } from '../domain/printable.ts'
import type { Table } from './table.ts'
import { type Column, isMoment } from './column.ts'
import { type ListProposal, eventsOf, whyNot } from './events.ts'
import { momentRole } from './field-names.ts'
import { type VenueLink, linkOf } from './id-columns.ts'
import { venuesOf } from './venues.ts'

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
  const lists = propose(tables)
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
    .flatMap(({ fields, more, texts }) => [...fields, ...more, ...texts])
    .filter(({ value }) => value.includes(OPEN))
  const missing = lists.flatMap(leftOutOf)
  for (const table of tables) {
    const isUsed = lists.some((list) => list.table === table)
    if (!isUsed) missing.push(`${table.title}: not used, as it contains neither events nor venues`)
  }
  if (events?.table.columns.some(needsZone) === true)
    missing.push('timeZone is not set: dates without an offset are read as UTC')
  if (events === undefined) missing.push('events: no file has dates, which events need')
  if (venues === undefined)
    missing.push('venues: no file of venues was given. For an empty list, create venues.csv with the one line Id,Name.')
  const lines = [
    '  kind: files',
    ...(needsDirectory ? [`  directory: ${quoted(relative(cwd, directory) || '.')}`] : []),
    ...(idNamespace !== null || lists.some(({ id }) => id?.isGuid === false) ? written([namespace], 2) : []),
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

function listLines({ list, table, texts, fields, more, further }: ListProposal, directory: string): readonly string[] {
  const name = quoted(table.isOnWeb ? table.path : relative(directory, table.path))
  const key = table.isOnWeb ? 'url' : 'file'
  const from = table.sheet === null ? name : `{ ${key}: ${name}, sheet: ${quoted(table.sheet)} }`
  return [
    `  ${list}:`,
    ...written([{ key: 'from', value: from, evidence: howMany(table.rows, 'row') }], 4),
    ...(texts.length === 0 ? [] : ['    texts:', ...written(texts, 6)]),
    '    fields:',
    ...written(fields, 6),
    ...further.map((line) => `      # ${written([line], 0).join('')}`),
    ...written(more, 4),
  ]
}

/** Declares the further fields that the lists propose, as a comment: publishing them is a decision. */
function declarations(lists: readonly ListProposal[]): readonly string[] {
  const declared = lists.filter(({ further }) => further.length > 0)
  if (declared.length === 0) return []
  return [
    '',
    '# Further fields, from columns that no field reads. To publish one, remove "# " before it here and under crm.',
    '# representation:',
    '#   further:',
    ...declared.flatMap(({ list, further }) => [
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

/** Finds the table of events: the one with dates that are called so, else one with dates. */
function eventsAmong(tables: readonly Table[]): Table | null {
  const signs: readonly ((column: Column) => boolean)[] = [
    (column) => isMoment(column) && momentRole(column.name) === 'start',
    (column) => isMoment(column) && momentRole(column.name) === 'date',
    isMoment,
    (column) => momentRole(column.name) === 'start',
  ]
  return signs.flatMap((isSign) => tables.find(({ columns }) => columns.some(isSign)) ?? [])[0] ?? null
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

/** Proposes how to read the tables: by their contents first, by the names of columns second. */
function propose(tables: readonly Table[]): readonly ListProposal[] {
  const events = eventsAmong(tables)
  const [venues, link] = venuesFor(events, tables)
  return [
    ...(events === null ? [] : [eventsOf(events, link, venues !== null)]),
    ...(venues === null ? [] : [venuesOf(venues, link)]),
  ]
}

/** Describes the columns that the proposal does not read, with the likely reason, and what was not examined. */
function leftOutOf({ table, taken }: ListProposal): readonly string[] {
  const { title, columns, examined, ragged, delimiter } = table
  const unread = columns
    .filter((column) => !taken.has(column) && column.filled > 0)
    .map((column) => `${column.name} (${example(column)}${whyNot(column)})`)
  return [
    ...(unread.length === 0 ? [] : [`${title}: not used: ${unread.join(', ')}`]),
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
