import type { PostgresSettings } from '../../config/crm/postgres.ts'
import { columnSource } from '../../config/crm/sources.ts'
import type { RecordTable } from '../../domain/field.ts'
import { LINKS } from '../../domain/field.ts'
import type { ListSetting } from '../mapping/list-setting.ts'
import { settingOf } from '../mapping/list-setting.ts'

/** What the configuration says of a table. */
export type TableSettings = PostgresSettings['events'] | PostgresSettings['venues']

/** Whether the table has a column; only `links` may be missing from the stock ones. */
export type HasColumn = (column: string) => boolean

/** The columns of a view made for Marquee: the contract's names in snake_case, with what the operator says instead. */
export function tableSetting({ list, fields }: RecordTable, said: TableSettings, has: HasColumn): ListSetting {
  const columns = [...fields, LINKS].map(({ name }) => {
    const column = name.replaceAll(/(?!^)[A-Z]/g, '_$&').toLowerCase()
    return [name, name === LINKS.name && !has(column) ? null : columnSource(column)] as const
  })
  const stock = {
    fields: Object.fromEntries(columns),
    active: [{ column: 'active', oneOf: [true] }],
    showOnWeb: list === 'events' ? [{ column: 'show_on_web', oneOf: [true] }] : null,
  }
  return settingOf(stock, said)
}
