import type {
  ConditionSetting,
  DateSetting,
  EventsSetting,
  FieldSetting,
  SubtractSetting,
  VenuesSetting,
} from './mapping-settings.ts'

/** A column that a mapping reads, and what of it. */
export interface MappedColumn {
  readonly column: string
  readonly label: boolean
  /** The key of the configuration that named it, such as `fields.Start`: for whoever has to mend it. */
  readonly key: string
}

/** All that a mapping reads of its table, in the order of its keys: only these columns are asked for. */
export function mappedColumns(setting: EventsSetting | VenuesSetting): readonly MappedColumn[] {
  const columns = Object.entries<AnySetting>(setting.fields).flatMap(([name, field]) => fieldColumns(name, field))
  const shown = 'showOnWeb' in setting ? setting.showOnWeb : null
  return [...columns, ...conditionColumns('active', setting.active), ...conditionColumns('showOnWeb', shown)]
}

type AnySetting = FieldSetting | DateSetting | SubtractSetting | null

function fieldColumns(name: string, setting: AnySetting): readonly MappedColumn[] {
  const key = `fields.${name}`
  if (setting === null || setting.kind === 'value') return []
  if (setting.kind === 'subtract') return setting.columns.map((column) => ({ column, label: false, key }))
  const { column, label } = setting
  const zone = 'wallTimeIn' in setting && setting.wallTimeIn?.kind === 'column' ? setting.wallTimeIn.column : null
  return zone === null
    ? [{ column, label, key }]
    : [
        { column, label, key },
        { column: zone, label: false, key },
      ]
}

function conditionColumns(key: string, setting: ConditionSetting | null): readonly MappedColumn[] {
  return (setting ?? []).map(({ column }) => ({ column, label: false, key: `${key}.${column}` }))
}
