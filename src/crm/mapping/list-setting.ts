import {
  type Condition,
  type FieldSource,
  type FieldSources,
  type TextSettings,
  columnsOf,
  onlyWhereOf,
  secondColumn,
} from '../../config/crm/sources.ts'
import type { DateFormat } from '../../domain/date-format.ts'
import { dayPart } from '../../domain/date-parts.ts'
import type { FurtherField } from '../../domain/further.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Zone } from '../../domain/zone.ts'
import { type Cell, type CellObject, cellAt, isBlank } from '../cells/cell.ts'
import { columnCell } from './column-cell.ts'
import type { FlagColumn } from './conditions.ts'
import { type DateRules, dateRules, finishRules, secondsOf } from './dates.ts'
import type { HtmlText } from './html-text.ts'
import type { Suspicions } from './suspicions.ts'

/** How a list is mapped: the CRM's stock mapping, overridden by the configuration. */
export interface ListSetting {
  readonly from: string
  /** The source of each field. A field that is null or absent is not read. */
  readonly fields: FieldSources
  /** `null`: every row is active. */
  readonly active: Condition | FlagColumn | null
  readonly showOnWeb: Condition | FlagColumn | null
  /** The further fields of the list, whose sources are in `fields`. */
  readonly further?: readonly FurtherField[]
  /** The column of the time at which a row changed; absent or `null` if there is none. */
  readonly updatedAt?: string | null
  /** Whether the conditions are those of the events, whose rows these are too: the events report what they let pass. */
  readonly hasConditionsOfEvents?: boolean
}

/** Overrides the stock mapping with the configuration, field by field. */
export function settingOf(stock: Omit<ListSetting, 'from'>, own: Said): ListSetting {
  return { ...stock, ...own, fields: { ...stock.fields, ...own.fields } }
}

/** The source of a field of any name; `null` if nothing reads it. */
export function sourceNamed(sources: FieldSources, name: string): FieldSource | null {
  return new Map<string, FieldSource | null | undefined>(Object.entries(sources)).get(name) ?? null
}

/** Returns the CRM's name for the column of a field. */
export function columnName({ fields }: Pick<ListSetting, 'fields'>, name: string): string {
  const source = sourceNamed(fields, name)
  return source?.kind === 'column' || source?.kind === 'join' ? columnsOf(source).join(' + ') : name
}

type Said = Pick<ListSetting, 'from' | 'fields'> & {
  readonly active?: Condition | null
  readonly showOnWeb?: Condition | null
}

/** What the mappings of both lists share. */
export interface MappingContext {
  /** The namespace of ids derived from the CRM's; `null` if the CRM's ids are GUIDs. */
  readonly idNamespace: Guid | null
  /** The venues' `from`, from which events derive their venue ids. */
  readonly venuesFrom: string
  /** The zone of dates without an offset, unless their field names another. */
  readonly zone: Zone
  readonly showIn: Zone
  /** `native` if the source has lists, `text` if one text contains several values. */
  readonly lists: 'native' | 'text'
  /** How the source writes its texts, if the configuration describes it; absent if its kind has no `crm.texts`. */
  readonly texts?: TextSettings | null
  /** Whether people or spreadsheets may have written the numbers; absent if a program wrote them. */
  readonly isByHand?: boolean
  /** The dates of events whose columns are of days. */
  readonly days?: ReadonlySet<string>
  /** Collects the suspicious values of the list. */
  readonly suspicions: Suspicions
  /** Reads cells that are HTML; absent if no field has any. */
  readonly htmlText?: HtmlText | undefined
}

/** Loads the parser of HTML if a field of either list needs it. */
export async function htmlReader(
  lists: readonly { readonly fields?: FieldSources }[],
): Promise<Pick<MappingContext, 'htmlText'>> {
  const sources = lists.flatMap(({ fields = {} }) => Object.values(fields))
  const isNeeded = sources.some((source) => source?.kind === 'column' && source.html === true)
  return isNeeded ? { htmlText: (await import('./html-text.ts')).htmlText } : {}
}

export interface MappedColumn {
  readonly column: string
  readonly label: boolean
  /** Whether another column is read where this one is blank: a JSON API may then leave it out of all rows. */
  readonly hasSecond?: true
  /** The configuration key that names the column, for error messages: `fields.Start`. */
  readonly key: string
}

/** Returns all columns that a mapping reads, in the order of its keys. Connectors request only these. */
export function mappedColumns({ fields, active, showOnWeb }: Omit<ListSetting, 'from'>): readonly MappedColumn[] {
  const columns = Object.entries(fields).flatMap(([name, source]) =>
    sourceColumns(source).map((column) => ({ ...column, key: `fields.${name}` })),
  )
  return [...columns, ...conditionColumns('active', active), ...conditionColumns('showOnWeb', showOnWeb)]
}

function sourceColumns(source: FieldSource | null): readonly Omit<MappedColumn, 'key'>[] {
  if (source === null || source.kind === 'lasting') return []
  const label = source.kind === 'column' && source.label
  const second = secondColumn(source)
  const mayLack = second === null ? {} : ({ hasSecond: true } as const)
  const columns = columnsOf(source).map((column) => ({ column, label, ...mayLack }))
  const zone = source.kind === 'column' || source.kind === 'join' ? source.wallTimeIn : undefined
  const others = [...(zone?.kind === 'column' ? [zone] : []), ...onlyWhereOf(source)]
  return [...columns, ...others.map(({ column }) => ({ column, label: false })), ...sourceColumns(second)]
}

function conditionColumns(key: string, condition: ListSetting['active']): readonly MappedColumn[] {
  const parts = condition === null ? [] : 'whenBlank' in condition ? [condition] : condition
  return parts.map(({ column }) => ({ column, label: false, key: `${key}.${column}` }))
}

/** The dates of events whose columns are at midnight in every row: columns of days, though no format says so. */
export type DayColumns = ReadonlySet<'Start' | 'Finish'>

const DAY_SECONDS = 86_400

/** Looks for columns of days in the rows of a file, until each of the two columns has had a time. */
export class DayColumnSearch {
  readonly #setting: ListSetting
  readonly #rules: DateRules
  readonly #open: Set<'Start' | 'Finish'>
  readonly #atMidnight = new Set<'Start' | 'Finish'>()
  /** Whether every row so far ends at the midnight after its Start, as evenings do. */
  #areEvenings = true

  constructor(setting: ListSetting, formats: readonly DateFormat[]) {
    this.#setting = setting
    this.#rules = dateRules(formats)
    const names = ['Start', 'Finish'] as const
    this.#open = new Set(names.filter((name) => sourceNamed(setting.fields, name)?.kind === 'column'))
  }

  get isOver(): boolean {
    return this.#open.size === 0
  }

  get found(): DayColumns {
    const isEvening = this.#areEvenings && !this.#open.has('Start')
    return new Set([...this.#open].filter((name) => this.#atMidnight.has(name) && (name === 'Start' || !isEvening)))
  }

  /** Returns a function that looks at a row. */
  through(): (row: CellObject) => void {
    const [start, finish] = (['Start', 'Finish'] as const).map((name) => {
      const source = sourceNamed(this.#setting.fields, name)
      // Of a day and a time, the day tells enough.
      const [day = null] = source?.kind === 'join' ? source.columns : []
      const dayCell = day === null ? (): Cell => null : cellAt(day)
      const cell = source?.kind === 'column' ? columnCell(source) : dayCell
      return { name, cell, rules: name === 'Finish' ? finishRules(this.#rules) : this.#rules }
    })
    if (start === undefined || finish === undefined) return () => {}
    return (row) => {
      const cells = [start.cell(row), finish.cell(row)] as const
      if (this.#open.has('Finish')) this.#areEvenings &&= lastsUntilMidnight(cells, this.#rules)
      for (const [index, { name, rules }] of [start, finish].entries()) {
        if (!this.#open.has(name)) continue
        const kind = kindOf(cells[index] ?? null, rules)
        if (kind === 'midnight') this.#atMidnight.add(name)
        if (kind === 'time') this.#open.delete(name)
      }
    }
  }
}

/** What a cell says of its column. A blank one and one that cannot be read say nothing, nor does a day without a time. */
function kindOf(cell: Cell, rules: DateRules): 'midnight' | 'time' | null {
  if (typeof cell !== 'string') return cell === null ? null : 'time'
  if (isBlank(cell)) return null
  const parsed = rules.parse(cell)
  if (parsed === null || parsed.kind === 'day') return null
  const isMidnight = dayPart(cell) !== cell || (parsed.kind === 'wall' && parsed.wall.seconds % DAY_SECONDS === 0)
  return isMidnight ? 'midnight' : 'time'
}

function lastsUntilMidnight([start, finish]: readonly [Cell, Cell], rules: DateRules): boolean {
  if (typeof start !== 'string' || typeof finish !== 'string') return true
  const [begins, ends] = [rules.parse(start), rules.parse(finish)]
  if (begins === null || ends === null) return true
  const seconds = secondsOf(ends) - secondsOf(begins)
  const areAlike = (begins.kind === 'instant') === (ends.kind === 'instant')
  return ends.kind !== 'day' && areAlike && seconds > 0 && seconds <= DAY_SECONDS
}
