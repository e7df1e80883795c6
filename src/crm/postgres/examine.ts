import type { Time } from '../../time/time.ts'
import { timestampText } from './updated-at.ts'
import type { Opened } from './known-table.ts'

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
const NEVER = Date.UTC(2222, 1, 22, 22, 22, 22) * 1000
/** A refresh without changes that takes longer is reported. With an index it takes far less. */
const SLOW_MS = 50

/** Yields a sentence for everything an operator should know about a readable table. */
export async function* examineTable<Item>(
  opened: Opened<Item>,
  time: Time,
  maxAgeMs: number,
): AsyncGenerator<string, void, void> {
  const { transaction, known } = opened
  const { name, written, quoted, settings } = known.list
  const { updatedAt } = known.reading
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
  if (updatedAt !== settings.updatedAt) {
    yield `${written} has no column ${settings.updatedAt}, so ${updatedAt} is read instead; to confirm this, set crm.${name}.updatedAt: ${updatedAt}`
  }
  if (!(await usesIndex(opened))) {
    const orUseless =
      isView === 't' ? ', or cannot use it (a DISTINCT, GROUP BY, window or expression is in the way)' : ''
    yield `${written} has no index that begins with ${updatedAt}${orUseless}, so every refresh scans all of it`
  }
  const slow = await slowness(opened, time, maxAgeMs)
  if (slow !== null) yield `${written} ${slow}`
}

/**
 * Returns true if the server can find changes by an index. An index may exist and still be useless to a view that
 * computes its rows.
 */
async function usesIndex<Item>({ transaction, known }: Opened<Item>): Promise<boolean> {
  // PostgreSQL scans a small table even if an index exists, so ask for the plan with scans disabled.
  const plan = await transaction.query(`SET LOCAL enable_seqscan = off; EXPLAIN ${known.selectUpdated(NEVER, NEVER)}`)
  await transaction.query('SET LOCAL enable_seqscan TO DEFAULT')
  const lines = plan.rows.map(([line]) => line ?? '')
  const isIndexed = lines.some(
    (line) => line.includes('Index Cond:') && line.includes(timestampText(NEVER).slice(0, 19)),
  )
  // The plan does not show how a foreign server runs its part.
  return isIndexed || lines.some((line) => line.includes('Foreign Scan'))
}

/** Describes reads that take too long; `null` if they do not. */
async function slowness<Item>(
  { transaction, known }: Opened<Item>,
  time: Time,
  maxAgeMs: number,
): Promise<string | null> {
  const moments = [time.now().monotonicMs]
  // The first statement measures the round trip to the server.
  for (const statement of ['SELECT 1', known.selectUpdated(NEVER, NEVER)]) {
    await transaction.query(statement)
    moments.push(time.now().monotonicMs)
  }
  const [begun = 0, answered = 0, refreshed = 0] = moments
  await transaction.drain(known.selectIds, 'marquee_ids')
  // The duration of a refresh without changes, minus the round trip; then that of reading all ids and times of change.
  const refreshMs = Math.max(0, Math.round(refreshed - answered - (answered - begun)))
  const idScanMs = Math.round(time.now().monotonicMs - refreshed)
  const leastMaxAgeMs = Math.ceil((refreshMs + idScanMs) / 250) * 1000
  if (refreshMs <= SLOW_MS && leastMaxAgeMs <= maxAgeMs) return null
  const figures = `takes ${refreshMs} ms for a refresh even if nothing has changed, and ${idScanMs} ms to compare all rows`
  const follows = 'a change is served that much later, and each notification costs the database as much'
  const bound =
    leastMaxAgeMs <= maxAgeMs ? '' : `; a view this slow needs a freshness.maxAge of ${leastMaxAgeMs / 1000}s or more`
  return `${figures}: ${follows}${bound}`
}
