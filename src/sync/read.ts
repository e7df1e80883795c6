import type { Guid } from '../domain/guid.ts'
import type { HeldRow } from '../records/held-row.ts'
import type { Moment } from '../time/time.ts'
import type { Page, ReadKind, ReadPurpose } from './port.ts'
import type { Staging } from './staging.ts'

/** One read. An addition only adds rows: it removes and confirms nothing, and keeps no cursor. */
export interface Read<Item> {
  readonly kind: ReadKind
  readonly purpose: ReadPurpose
  readonly begun: Moment
  readonly staging: Staging<Item>
  /** Why the list may still be being written; `null` if nothing says so. */
  unsure: string | null
  /** Venues to which events refer that were written before the list was served. */
  readonly missing: Set<Guid>
}

/** A longer read writes what it has added so far, to bound the memory that it takes: about 18,000 rows. */
export const MOST_STAGED: { bytes: number } = { bytes: 16_000_000 }

/** Yields the records of a page of a list that is not served yet. */
export function* recordsOf<Item>({
  changes,
}: Page<Item>): Generator<{ readonly record: Item; readonly row: null }, void> {
  for (const change of changes) if (change.kind === 'record') yield { record: change.record, row: null }
}

/** Returns the venues that the events newly refer to and that are not served. */
export function missingIn<Item>(
  rows: Iterable<{ readonly record: Item; readonly row: HeldRow | null }>,
  missingFor: ((event: Item, row: HeldRow | null) => Guid | null) | undefined,
): ReadonlySet<Guid> {
  const missing = new Set<Guid>()
  if (missingFor === undefined) return missing
  for (const { record, row } of rows) {
    const id = missingFor(record, row)
    if (id !== null) missing.add(id)
  }
  return missing
}
