import type { Transaction } from './read-session.ts'
import { Fault } from './fault.ts'
import type { TableName } from './table-name.ts'

const RIGHTS = `SELECT
  has_table_privilege(c.oid, 'INSERT') OR has_table_privilege(c.oid, 'UPDATE') OR has_table_privilege(c.oid, 'DELETE')
    OR has_table_privilege(c.oid, 'TRUNCATE'),
  row_security_active(c.oid),
  EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = c.oid AND a.attname = $3 AND i.indisvalid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relname = $1 AND (n.nspname = $2 OR ($2 = '' AND pg_table_is_visible(c.oid)))`

// A view's own policy is that of the tables below it, as the view's owner or, with security_invoker, as the role.
const BELOW = `WITH RECURSIVE parts AS (
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = $1 AND (n.nspname = $2 OR ($2 = '' AND pg_table_is_visible(c.oid)))
    UNION SELECT d.refobjid FROM parts p JOIN pg_rewrite r ON r.ev_class = p.oid
      JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass)
  SELECT bool_or(c.relrowsecurity), bool_or(EXISTS (
      SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = c.oid AND a.attname = $3 AND i.indisvalid))
  FROM parts p JOIN pg_class c ON c.oid = p.oid`

export interface Examined {
  readonly key: 'events' | 'venues'
  readonly table: TableName
  readonly changedAt: string | null
}

/** What an operator should know about a table that can be read all the same, a sentence each. */
export async function warningsAbout(
  transaction: Transaction,
  { key, table, changedAt }: Examined,
): Promise<readonly string[] | Fault> {
  const names = [table.name, table.schema ?? '', changedAt ?? '']
  const rights = await transaction.query(RIGHTS, names)
  if (rights instanceof Fault) return rights
  const below = await transaction.query(BELOW, names)
  if (below instanceof Fault) return below
  const [canWrite, narrowed, isIndexed] = rights.rows[0] ?? []
  const [hasPolicies, isIndexedBelow] = below.rows[0] ?? []
  const warnings: string[] = []
  const name = table.written
  if (canWrite === 't')
    warnings.push(`the role may write to ${name}; Marquee only reads: grant it SELECT and nothing else`)
  if (narrowed === 't') {
    warnings.push(`row-level security applies to ${name}: rows that a policy hides are not served, and look deleted`)
  } else if (hasPolicies === 't') {
    warnings.push(`a table below ${name} has row-level security: rows that it hides from the view look deleted`)
  }
  if (changedAt === null) {
    warnings.push(`${name} has no column for crm.${key}.changedAt, so that every refresh reads all of it`)
  } else if (isIndexed !== 't' && isIndexedBelow !== 't') {
    warnings.push(`${name} has no index that begins with ${changedAt}, so that every refresh scans all of it`)
  }
  return warnings
}
