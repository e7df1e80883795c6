// Proposes a configuration for list files, for `init --from`. In: tables. Out: the lines of a configuration, with
// evidence.

import { randomUUID } from 'node:crypto'
import { dirname, relative } from 'node:path'
import type { Guid } from '../domain/guid.ts'
import { type Line, comment, OPEN, quoted } from './line.ts'
import { howMany } from '../domain/printable.ts'
import { type ListProposal, propose } from './propose.ts'
import type { Misfits } from './read-rows.ts'
import type { Table } from './table.ts'

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
  /** The namespace of the replaced configuration; `null` to generate one. */
  readonly idNamespace: Guid | null
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
    evidence: `the ids are not GUIDs; ${idNamespace === null ? 'keep this UUID' : 'this UUID was kept from the replaced file'}: ids are derived from it`,
  }
  const lines = [
    '  kind: files',
    ...(needsDirectory ? [`  directory: ${quoted(relative(cwd, directory) || '.')}`] : []),
    ...(needsNamespace ? written([namespace], 2) : []),
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
      table.misfits === null ? [] : [`${table.title}: ${misfitText(table.misfits, table.delimiter)}`],
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

function misfitText({ rows, firstRow, cells, headerCells }: Misfits, delimiter: string | null): string {
  const which =
    rows === 1 ? `row ${firstRow} has` : `${howMany(rows, 'row')}, the first of which is row ${firstRow}, have`
  const other = `${cells > headerCells ? 'more' : 'fewer'} cells than the header row (${cells} and ${headerCells})`
  return `${which} ${other}, and Marquee refuses such a file: enclose a cell that contains ${JSON.stringify(delimiter)} in double quotes`
}

function rowsOf({ rows, isWorkbook, file }: Table): string {
  const count = howMany(rows, 'row')
  return isWorkbook && !/\.xlsx$/i.test(file) ? `${count}; an Excel workbook despite its name` : count
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
