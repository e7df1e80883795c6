import type { KnownTable } from './known-table.ts'
import { type ListTable, quote } from './list-table.ts'
import type { Transaction } from './read-session.ts'

// A view applies the policies of the tables below it: for the view's owner or, with security_invoker, for the role.
const RIGHTS = `WITH RECURSIVE named AS (SELECT oid, relkind FROM pg_class WHERE oid = to_regclass($1)),
  parts AS (SELECT oid FROM named
    UNION SELECT d.refobjid FROM parts p JOIN pg_rewrite r ON r.ev_class = p.oid
      JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass)
  SELECT
  has_table_privilege(oid, 'INSERT') OR has_table_privilege(oid, 'UPDATE') OR has_table_privilege(oid, 'DELETE')
    OR has_table_privilege(oid, 'TRUNCATE'),
  row_security_active(oid), relkind = 'v',
  (SELECT bool_or(c.relrowsecurity) FROM parts p JOIN pg_class c ON c.oid = p.oid)
  FROM named`

/** A time that no row has and that is easy to find in a query plan. */
const NEVER = '2222-02-22 22:22:22'

/** Yields a sentence for everything an operator should know about a readable table. */
export async function* examineTable(
  transaction: Transaction,
  known: KnownTable,
  { name, written, quoted, tableSettings }: ListTable,
): AsyncGenerator<string, void, void> {
  const { updatedAt } = known
  const rights = await transaction.query(RIGHTS, [quoted])
  const [canWrite, narrowed, isView, narrowedBelow] = rights.rows[0] ?? []
  if (canWrite === 't') yield `the role may write to ${written}; Marquee only reads: grant it SELECT and nothing else`
  if (narrowed === 't') {
    yield `row-level security applies to ${written}: rows that a policy hides are not served, and look deleted`
  } else if (narrowedBelow === 't') {
    yield `a table below ${written} has row-level security: rows that it hides from the view look deleted`
  }
  if (updatedAt === null) {
    yield `${written} has no column for crm.${name}.updatedAt, so every refresh reads all of it`
    return
  }
  if (updatedAt !== tableSettings.updatedAt) {
    yield `${written} has no column ${tableSettings.updatedAt}, so ${updatedAt} is read instead; to confirm this, set crm.${name}.updatedAt: ${updatedAt}`
  }
  if (!(await usesIndex(transaction, known.select, quote(updatedAt)))) {
    const orUseless =
      isView === 't' ? ', or cannot use it (a DISTINCT, GROUP BY, window or expression is in the way)' : ''
    yield `${written} has no index that begins with ${updatedAt}${orUseless}, so every refresh scans all of it`
  }
}

/**
 * Returns true if the server can find changes by an index. An index may exist and still be useless to a view that
 * computes its rows.
 */
async function usesIndex(transaction: Transaction, select: string, column: string): Promise<boolean> {
  const condition = `${column} >= '${NEVER}' AND ${column} <= '${NEVER}'`
  // PostgreSQL scans a small table even if an index exists, so ask for the plan with scans disabled.
  const plan = await transaction.query(`SET LOCAL enable_seqscan = off; EXPLAIN ${select} WHERE ${condition}`)
  await transaction.query('SET LOCAL enable_seqscan TO DEFAULT')
  const lines = plan.rows.map(([line]) => line ?? '')
  const isIndexed = lines.some((line) => line.includes('Index Cond:') && line.includes(NEVER))
  // The plan does not show how a foreign server runs its part.
  return isIndexed || lines.some((line) => line.includes('Foreign Scan'))
}
