import { nearestName } from '../../domain/nearest-name.ts'
import { PostgresFailure, failureIn } from './postgres-failure.ts'
import type { Transaction } from './read-session.ts'
import { type ListTable, columnFor } from './list-table.ts'

export interface TableShape {
  /** Types by column name, as the database names them. */
  readonly columns: ReadonlyMap<string, string>
  /** The object ids of the array types. */
  readonly arrays: ReadonlySet<number>
  /** Columns that the view's definition sets to NULL. */
  readonly nulls: ReadonlySet<string>
}

const COLUMNS = `SELECT a.attname, format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL), coalesce(nullif(t.typbasetype, 0), t.oid)::text, t.typcategory = 'A',
  CASE WHEN c.relkind IN ('v', 'm') AND a.attnum = 1 THEN pg_get_viewdef(c.oid, true) END
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
  WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'v', 'm', 'f', 'p') AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum`

/** Matches a column that is NULL in every row, in a view definition by PostgreSQL: `NULL::text AS name`. */
const NULL_AS = /^\s*(?:SELECT )?NULL(?:::[^,\n]*?)? AS (?:([^\s",]+)|"((?:[^"]|"")+)"),?$/gm

const TABLES = `SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND has_schema_privilege(n.oid, 'USAGE')
  LIMIT 1000`

/**
 * Reads the shape of a table. If the table does not exist, the failure suggests the name that was most likely meant.
 */
export async function tableShape(transaction: Transaction, list: Named): Promise<TableShape> {
  const answer = await transaction.query(COLUMNS, [list.quoted])
  if (answer.rows.length === 0) throw await missingTable(transaction, list)
  const columns = new Map<string, string>()
  const arrays = new Set<number>()
  const nulls = new Set<string>()
  const [, , , , definition] = answer.rows[0] ?? []
  for (const [, bare, quoted] of (definition ?? '').matchAll(NULL_AS))
    nulls.add(bare ?? quoted?.replaceAll('""', '"') ?? '')
  for (const [name, type, oid, isArray] of answer.rows) {
    columns.set(name ?? '', type ?? '')
    if (isArray === 't') arrays.add(Number(oid))
  }
  return { columns, arrays, nulls }
}

type Named = Pick<ListTable, 'name' | 'written' | 'quoted'>

/** Throws a failure that names all missing columns, and what to write instead, if any is missing. */
export function mustHaveColumns({ columns }: TableShape, list: ListTable): void {
  const missing = list.named.filter(({ column }) => columnFor(column, list, columns) === undefined)
  if (missing.length === 0) return
  const { written, name, tableSettings: settings } = list
  const saysFields = Object.keys(settings.fields).length > 0
  const words = new Set(missing.map(({ column }) => `${column}${nearHint(column, columns.keys())}`))
  // A condition can only be replaced as a whole.
  const keys = new Set(missing.map(({ key }) => (key.startsWith('fields.') ? key : (key.split('.')[0] ?? key))))
  // The id column is required: without ids, rows cannot be told apart.
  const lacksId = keys.delete('fields.Id')
  // Without the condition, every row would be published.
  const conditions = (['active', 'showOnWeb'] as const).filter(
    (key) => saysCondition(settings, key) && keys.delete(key),
  )
  const { fields = [], others = [] } = Object.groupBy(keys, (key) => (key.startsWith('fields.') ? 'fields' : 'others'))
  const nulls = fields.map((key) => `${key.slice('fields.'.length)}: null`).join(', ')
  const block = others.map((key) => `${key}: null`)
  if (nulls !== '' && !saysFields) block.unshift(`fields: { ${nulls} }`)
  const additions = [
    ...(nulls !== '' && saysFields ? [`add to crm.${name}.fields: ${nulls}`] : []),
    ...(block.length === 0 ? [] : [`add to crm.${name}: ${block.join(', ')}`]),
  ]
  const orders = [
    ...(lacksId ? [`name the column of the ids in crm.${name}.fields.Id`] : []),
    ...conditions.map((key) => `correct the names in crm.${name}.${key}`),
    ...(keys.size === 0 ? [] : [`name other columns, or for fields without one ${additions.join(', and ')}`]),
  ]
  const lead = `crm.${name}: ${written} has no ${words.size === 1 ? 'column' : 'columns'} ${[...words].join(', ')}`
  const message = `${lead}; it has ${[...columns.keys()].slice(0, 40).join(', ')}; ${orders.join('; ')}`
  throw new PostgresFailure('misconfigured', message, null, false)
}

function saysCondition(settings: ListTable['tableSettings'], key: 'active' | 'showOnWeb'): boolean {
  return new Map<string, unknown>(Object.entries(settings)).get(key) !== undefined
}

function nearHint(column: string, names: Iterable<string>): string {
  const near = nearestName(column, names)
  return near === null ? '' : ` (did you mean ${near}?)`
}

/** Throws a failure if the updatedAt column is not a timestamp, which the comparison requires. */
export function mustHaveMoments(
  shape: TableShape,
  updatedAt: string | null,
  { name, written, tableSettings }: ListTable,
): void {
  const type = shape.columns.get(updatedAt ?? '')
  if (type === undefined) return
  const isMoment = type.startsWith('timestamp')
  if (isMoment && (tableSettings.updatedAtIn === null || isWallTime(shape, updatedAt))) return
  const column = `the column ${updatedAt} of ${written} is of the type ${type}`
  const message = isMoment
    ? `crm.${name}.updatedAtIn: ${column}, which needs no zone; leave it out`
    : `crm.${name}.updatedAt: ${column}; it must be a timestamp with or without time zone, or null for none`
  throw new PostgresFailure('misconfigured', message, null, false)
}

export function isWallTime(shape: TableShape, updatedAt: string | null): boolean {
  return shape.columns.get(updatedAt ?? '') === 'timestamp without time zone'
}

/**
 * Returns the default `TimeZone` of this connection: the setting of the role, else of the database, else of the server.
 * It is the best guess for the time zone of the table's writers.
 */
export async function zoneOf(transaction: Transaction): Promise<string> {
  const answer = await transaction.query("SELECT reset_val FROM pg_settings WHERE name = 'TimeZone'")
  return answer.rows[0]?.[0] ?? 'UTC'
}

async function missingTable(transaction: Transaction, { name, written }: Named): Promise<PostgresFailure> {
  const { rows } = await transaction.query(TABLES).catch((cause: unknown) => {
    // The missing table is the fact to report, even if no name can be suggested.
    failureIn(cause)
    return { rows: [] }
  })
  const near = nearestName(
    written,
    rows.map(([table]) => table ?? ''),
  )
  const hint = near === null ? '' : `; did you mean ${near}?`
  const message = `crm.${name}.from: the database has no table or view ${written} that this role may see${hint}`
  return new PostgresFailure('misconfigured', message, null, false)
}
