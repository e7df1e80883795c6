import type { CrmSettings } from '../../config/configuration.ts'
import { type TextSettings, columnSource, fileNamed } from '../../config/crm/sources.ts'
import { meantHint, nearestName } from '../../domain/nearest-name.ts'
import { EVENTS } from '../../domain/event.ts'
import { type ListName, type RecordTable, LINKS } from '../../domain/field.ts'
import type { FurtherField, FurtherFields } from '../../domain/further.ts'
import { VENUES } from '../../domain/venue.ts'
import { printable } from '../../domain/printable.ts'
import type { ListContext } from '../kit/crm-limits.ts'
import { type CellObject, cellAt, isBlank, whereIs } from '../cells/cell.ts'
import { type ListSetting, DayColumnSearch, mappedColumns, sourceNamed } from '../mapping/list-setting.ts'
import type { StreamShape } from '../connector/row-host.ts'
import { FILE_FORMATS, formatOf } from './content.ts'
import type { Candidate } from './found-file.ts'

type FileSettings = Pick<CrmSettings<'files'>, 'events' | 'venues'>

export interface ListFile {
  readonly name: ListName
  /** The files that may hold the list; exactly one must exist. */
  readonly candidates: readonly Candidate[]
  readonly sheet: string | null
  /** The path of the list in a JSON file; `null` if the file is the list. */
  readonly rows: string | null
  /** The columns of addresses, whose links are served if the file is a workbook. */
  readonly linkColumns: readonly string[]
  /** Whether the configuration has a section for the list. */
  readonly isMapped: boolean
  /** How the file's texts are written; `null` if they are written for Marquee. */
  readonly texts: TextSettings | null
  readonly columns: readonly string[]
  /** The columns whose texts the replica keeps as they are. */
  readonly kept: readonly string[]
  /** The columns that must exist because the configuration names them, with their keys. */
  readonly named: ReadonlyMap<string, string>
  /** How its rows become records. */
  readonly shape: StreamShape
  /** Tests for a row of a table that is a heading between the others. */
  readonly isHeading: (row: CellObject) => boolean
  /** Searches for columns of days. */
  readonly searchDays: () => DayColumnSearch
}

const WAYS: StreamShape['ways'] = new Set(['full', 'version'])

export function listFile(
  table: RecordTable,
  settings: FileSettings,
  { further, htmlText }: Pick<ListContext, 'further' | 'htmlText'>,
): ListFile {
  const { block, texts } = settings[table.list]
  const isWithinEvents = table.list === 'venues' && isSameRows(settings)
  const own = settingOfList(table, block, further)
  const events = settingOfList(EVENTS, settings.events.block, [])
  // A row that is no event on the web must not publish its place, unless the venues have a condition of their own.
  const isShown = { active: events.active, showOnWeb: events.showOnWeb, hasConditionsOfEvents: true }
  const setting = isWithinEvents && block?.active === undefined ? { ...own, ...isShown } : own
  const others = isSameRows(settings) ? [events, settingOfList(VENUES, settings.venues.block, [])] : []
  const { fields, active, showOnWeb, hasConditionsOfEvents = false } = setting
  const { Id = null, VenueId = null, Tags = null } = fields
  const isEvents = table.list === 'events' && block !== null
  return {
    name: table.list,
    candidates: candidatesOf(table.list, block),
    sheet: block?.from?.sheet ?? null,
    rows: block?.rows ?? null,
    linkColumns: linkColumnsOf(setting),
    isMapped: block !== null,
    texts,
    columns: [...new Set([setting, ...others].flatMap(columnsOf))],
    kept: columnsOf({ from: '', fields: { Id, VenueId, Tags }, ...UNCONDITIONAL }),
    named: block === null ? new Map() : namedColumns(table.list, setting, block),
    shape: {
      fields,
      active,
      showOnWeb,
      hasConditionsOfEvents,
      isWithinEvents,
      updatedAt: null,
      ways: WAYS,
      repeats: 'first',
      htmlText,
    },
    isHeading: isEvents ? headingTest(columnsOf(setting), setting) : () => false,
    searchDays: () => new DayColumnSearch(setting, texts?.dates ?? []),
  }
}

/** The columns of `Website` and of further fields that are addresses. */
function linkColumnsOf({ fields, further = [] }: ListSetting): readonly string[] {
  const names = ['Website', ...further.flatMap(({ name, type }) => (type === 'url' ? [name] : []))]
  const sources = names.map((name) => sourceNamed(fields, name))
  return sources.flatMap((source) => (source?.kind === 'column' ? [source.column] : []))
}

const UNCONDITIONAL = { active: null, showOnWeb: null } as const
/** The fewest columns of a list in which a row with a single value is a heading. */
const LEAST_COLUMNS = 3

/** Tests for a row that has a value in one column at most, and not in that of ids: such as a month between the events. */
function headingTest(columns: readonly string[], { fields: { Id: id } }: ListSetting): (row: CellObject) => boolean {
  if (columns.length < LEAST_COLUMNS) return () => false
  const cells = columns.map(cellAt)
  const idCell = id?.kind === 'column' ? cellAt(id.column) : () => null
  return (row) => {
    let filled = 0
    for (const cellOf of cells) if (!isBlank(cellOf(row)) && ++filled > 1) return false
    return isBlank(idCell(row))
  }
}

/** Returns true if both lists name the same file, sheet and list in it. */
function isSameRows({ events, venues }: FileSettings): boolean {
  const places = [events, venues].map(({ block }) => {
    const from = block?.from ?? null
    if (block === null || from === null) return null
    return JSON.stringify(['file' in from ? from.file : from.url.reveal(), from.sheet, block.rows])
  })
  return places[0] !== null && places[0] === places[1]
}

type Block = NonNullable<FileSettings['events']['block'] | FileSettings['venues']['block']>

function settingOfList(table: RecordTable, block: Block | null, further: readonly FurtherField[]): ListSetting {
  const stock = stockSetting(table, further)
  if (block === null) return stock
  const { texts: _, fields, ...said } = block
  return {
    ...stock,
    ...said,
    from: fileNamed(block, table.list),
    fields: mapsNothing(block) ? { ...stock.fields, ...fields } : { Id: columnSource('Id'), ...fields },
  }
}

/** Returns true if a block names no column; it may still set fields to null. */
function mapsNothing({ fields = {} }: Block): boolean {
  return Object.values(fields).every((source) => source === null)
}

function candidatesOf(list: ListName, block: Block | null): readonly Candidate[] {
  const from = block?.from ?? null
  const file = from !== null && 'file' in from ? from.file : undefined
  const format = file === undefined ? null : formatOf(file)
  if (file !== undefined && format !== null) return [{ name: file, format }]
  const formats = FILE_FORMATS.filter((known) => block !== null || known !== 'xlsx')
  return formats.map((known) => ({ name: `${list}.${known}`, format: known }))
}

/** Returns the columns that the block names in fields and conditions, with their keys. */
function namedColumns(list: ListName, setting: ListSetting, block: Block): ReadonlyMap<string, string> {
  const fields = mapsNothing(block) ? {} : setting.fields
  const columns = mappedColumns({ active: null, showOnWeb: null, ...block, fields })
  return new Map(columns.map(({ column, key }) => [column, `crm.${list}.${key}`]))
}

/** The stock mapping: columns have the contract's field names, in the same case. */
function stockSetting({ list, fields }: RecordTable, further: readonly FurtherField[]): ListSetting {
  return {
    from: list,
    fields: Object.fromEntries([...fields, LINKS, ...further].map(({ name }) => [name, columnSource(name)])),
    further,
    active: { column: 'Active', whenBlank: true },
    showOnWeb: list === 'events' ? { column: 'ShowOnWeb', whenBlank: false } : null,
  }
}

/** Returns the columns that are read of a list, for messages. `isMapped`: the configuration names them. */
export function columnsRead(
  crm: CrmSettings,
  list: ListName,
  further: FurtherFields,
): { readonly columns: readonly string[]; readonly isMapped: boolean } {
  const block = crm.kind === 'files' ? crm[list].block : null
  const setting = settingOfList(list === 'events' ? EVENTS : VENUES, block, further[list])
  return { columns: columnsOf(setting), isMapped: block !== null }
}

function columnsOf(setting: ListSetting): readonly string[] {
  return [...new Set(mappedColumns(setting).map(({ column }) => column))]
}

const MOST = 100
const LONGEST = 80
const SHOWN = 40

/** The unused and missing columns of the previous read. */
export interface ColumnsBefore {
  readonly names: readonly string[]
  readonly unseen: ReadonlySet<string>
}

/** Collects the unused columns of a file. Their number is limited: a file may have a new one in each row. */
export class IgnoredColumns {
  readonly #known: ReadonlySet<string>
  readonly #names = new Set<string>()
  /** The configured columns that no row has had so far. */
  readonly #unseen: Set<string>
  /** Tells for a path such as `venue.id` whether every row so far had null for `venue`: the path may still be right. */
  readonly #isUndecided = new Map<string, boolean>()
  #before: ColumnsBefore | null
  #sawAgain = false

  /**
   * @param before the columns of the previous read, which unchanged rows have too; null on the first read
   * @param named the columns that must exist
   */
  constructor(known: readonly string[], before: ColumnsBefore | null = null, named: Iterable<string> = []) {
    // The first name of a path counts as read: the object is.
    this.#known = new Set(known.flatMap((name) => [name, name.split('.', 1)[0] ?? name]))
    this.#unseen = new Set(named)
    this.#before = before
  }

  /** Describes all missing columns in one sentence; `null` if none is missing. */
  lacking({ named }: Pick<ListFile, 'named'>, file: string): string | null {
    const { unseen } = this.all
    if (unseen.size === 0) return null
    const missing = [...named].filter(([column]) => unseen.has(column))
    const there = [...[...named.keys()].filter((column) => !unseen.has(column)), ...this.#names]
    const words = missing.map(([column, key]) => {
      return `${JSON.stringify(column)} (${key}${meantHint(nearestName(column, there))})`
    })
    const has = there
      .slice(0, SHOWN)
      .map((column) => JSON.stringify(column))
      .join(', ')
    return printable(`${file} has no column ${words.join(', ')}; it has ${has}`, 4000)
  }

  /** The result, for the next read. */
  get all(): ColumnsBefore {
    const unseen = [...this.#unseen].filter((name) => this.#isUndecided.get(name) !== true)
    return { names: this.names, unseen: new Set(unseen) }
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  sawColumn(name: string): void {
    if (this.#known.has(name)) this.#unseen.delete(name)
    else if (this.#names.size < MOST) this.#names.add(name.slice(0, LONGEST))
  }

  /** Notes a row that has not changed since the previous read. */
  sawRowAgain(): void {
    if (this.#sawAgain) return
    this.#sawAgain = true
    // Without a previous read in this process, the rows come from a snapshot with the same mapping.
    const before = this.#before
    for (const name of before?.names ?? []) this.sawColumn(name)
    for (const name of this.#unseen) if (before === null || !before.unseen.has(name)) this.#unseen.delete(name)
    this.#before = null
  }

  sawRow(row: CellObject): void {
    const isWanted = this.#unseen.size > 0
    for (const name in row) if (isWanted || !this.#known.has(name)) this.sawColumn(name)
    if (!isWanted) return
    for (const path of this.#unseen) {
      if (!path.includes('.')) continue
      const found = whereIs(row, path)
      if (found === 'there') this.#unseen.delete(path)
      if (found === 'nowhere') this.#isUndecided.set(path, false)
      if (found === 'unknown' && !this.#isUndecided.has(path)) this.#isUndecided.set(path, true)
    }
  }
}
