import {
  type Condition,
  type FieldSource,
  type FieldSources,
  type TextSettings,
  columnsOf,
  secondColumn,
} from '../../config/crm/sources.ts'
import type { FurtherField } from '../../domain/further.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Zone } from '../../domain/zone.ts'
import type { FlagColumn } from './conditions.ts'
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
}

/** Overrides the stock mapping with the configuration, field by field. */
export function settingOf(stock: Omit<ListSetting, 'from'>, said: Said): ListSetting {
  return { ...stock, ...said, fields: { ...stock.fields, ...said.fields } }
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
  /** How the source writes its texts, if the configuration describes it. */
  readonly texts?: TextSettings | null
  /** The decimal separator configured for numbers that people or spreadsheets wrote; `null` if a program wrote them. */
  readonly written?: Pick<TextSettings, 'decimal'> | null
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
  if (source === null || source.kind === 'value' || source.kind === 'lasting') return []
  const label = source.kind === 'column' && source.label
  const second = secondColumn(source)
  const mayLack = second === null ? {} : ({ hasSecond: true } as const)
  const columns = columnsOf(source).map((column) => ({ column, label, ...mayLack }))
  const zone = source.kind === 'subtract' ? undefined : source.wallTimeIn
  const where = (source.kind === 'column' ? source.onlyWhere : undefined) ?? []
  const others = [...(zone?.kind === 'column' ? [zone] : []), ...where]
  return [...columns, ...others.map(({ column }) => ({ column, label: false })), ...sourceColumns(second)]
}

function conditionColumns(key: string, condition: ListSetting['active']): readonly MappedColumn[] {
  const parts = condition === null ? [] : 'whenBlank' in condition ? [condition] : condition
  return parts.map(({ column }) => ({ column, label: false, key: `${key}.${column}` }))
}
