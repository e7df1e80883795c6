import type { Condition, FieldSource, FieldSources } from '../../config/crm/sources.ts'
import type { TextSettings } from '../../config/crm/texts.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Suspicions } from './suspicions.ts'

/** How a list is mapped: the CRM's stock mapping with what the operator says instead. */
export interface ListSetting {
  readonly from: string
  /** A field that is null, or absent, comes from nowhere. */
  readonly fields: FieldSources
  /** Null: every row is. */
  readonly active: Condition | FlagColumn | null
  readonly showOnWeb: Condition | FlagColumn | null
}

/** A column that says yes or no, and what a blank one means. */
export interface FlagColumn {
  readonly column: string
  readonly whenBlank: boolean
}

/** The stock mapping with what the operator says instead, field by field. */
export function settingOf(stock: Omit<ListSetting, 'from'>, said: Said): ListSetting {
  return { ...stock, ...said, fields: { ...stock.fields, ...said.fields } }
}

type Said = Pick<ListSetting, 'from' | 'fields'> & {
  readonly active?: Condition | null
  readonly showOnWeb?: Condition | null
}

/** What both lists share. */
export interface MappingSurroundings {
  /** Where the ids of this CRM are no GUIDs: what they become UUIDs of. */
  readonly idNamespace: Guid | null
  /** The venues' `from`, for the ids that events know them by. */
  readonly venuesFrom: string
  /** What dates without an offset are wall times in, where their field says nothing else. */
  readonly zone: Zone
  readonly showIn: Zone
  /** Whether the source has lists, or texts that hold what would be in them. */
  readonly lists: 'native' | 'text'
  /** How its texts are written, where that is not as for Marquee. */
  readonly texts?: TextSettings | null
  /** What the configuration says of numbers that people and spreadsheets wrote; null if a program wrote them all. */
  readonly written?: Pick<TextSettings, 'decimal'> | null
  /** Where what is suspicious in the list is noted. */
  readonly suspicions: Suspicions
}

/** A column that a mapping reads, and what of it. */
export interface MappedColumn {
  readonly column: string
  readonly label: boolean
  /** The key of the configuration that named it, such as `fields.Start`: for whoever has to correct it. */
  readonly key: string
}

/** All that a mapping reads of its table, in the order of its keys: only these columns are asked for. */
export function mappedColumns({ fields, active, showOnWeb }: Omit<ListSetting, 'from'>): readonly MappedColumn[] {
  const columns = Object.entries(fields).flatMap(([name, source]) =>
    sourceColumns(source).map((column) => ({ ...column, key: `fields.${name}` })),
  )
  return [...columns, ...conditionColumns('active', active), ...conditionColumns('showOnWeb', showOnWeb)]
}

function sourceColumns(source: FieldSource | null): readonly Omit<MappedColumn, 'key'>[] {
  if (source === null || source.kind === 'value' || source.kind === 'lasting') return []
  const label = source.kind === 'column' && source.label
  const columns = (source.kind === 'column' ? [source.column] : source.columns).map((column) => ({ column, label }))
  const zone = source.kind === 'subtract' ? undefined : source.wallTimeIn
  return zone?.kind === 'column' ? [...columns, { column: zone.column, label: false }] : columns
}

function conditionColumns(key: string, condition: ListSetting['active']): readonly MappedColumn[] {
  const parts = condition === null ? [] : 'whenBlank' in condition ? [condition] : condition
  return parts.map(({ column }) => ({ column, label: false, key: `${key}.${column}` }))
}
