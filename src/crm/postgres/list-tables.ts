import type { Guid } from '../../domain/guid.ts'
import type { MappingSurroundings } from '../mapping/list-setting.ts'
import { mappedColumns } from '../mapping/list-setting.ts'
import type { RowKind } from '../mapping/map-row.ts'
import { listMapping, mapRow } from '../mapping/map-row.ts'
import { Reason } from '../mapping/reader.ts'
import { ColumnAccess } from './column-access.ts'
import type { Cells, ListTable } from './list-table.ts'
import type { TableSettings } from './stock-mapping.ts'
import { tableSetting } from './stock-mapping.ts'
import { tableName } from './table-name.ts'

export function listTable<Item extends { readonly Id: Guid }>(
  kind: RowKind<Item>,
  settings: TableSettings,
  surroundings: MappingSurroundings,
): ListTable<Item> {
  const { from, changedAt, changedAtIn } = settings
  return {
    name: kind.table.list,
    table: tableName(from),
    changedAt,
    changedAtIn: changedAtIn?.id ?? null,
    rowReading(has) {
      const setting = tableSetting(kind.table, settings, has)
      const access = new ColumnAccess()
      // The id's column comes first.
      const id = setting.fields.Id
      if (id?.kind === 'column') access.cell(id.column)
      const mapping = listMapping<Cells, Item>(kind, setting, access, surroundings)
      if (changedAt !== null) access.cell(changedAt)
      return {
        columns: access.columns,
        keyOf(column) {
          if (column === changedAt) return 'changedAt'
          const key = mappedColumns(setting).find((mapped) => mapped.column === column)?.key ?? 'fields'
          // A condition is replaced as a whole.
          return key.startsWith('fields.') ? key : (key.split('.')[0] ?? key)
        },
        idOf(cell) {
          const read = mapping.readers.Id([cell])
          return read instanceof Reason ? null : read
        },
        mapRow: (row, where, version) => mapRow(mapping, row, where, version),
      }
    },
  }
}
