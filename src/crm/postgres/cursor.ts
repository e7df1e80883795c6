import type { Cursor } from '../../replica/port.ts'
import { Fault } from './fault.ts'

/** How far the changes of a list are known. */
export interface Position {
  /** Which server said so: on another one it means nothing. */
  readonly server: string
  /** The latest stamp that was seen, in microseconds. */
  readonly newest: number
  /** What the server's clock showed when that stamp was first seen. */
  readonly seenAt: number
  /** Where the next read of changes begins. */
  readonly from: number
}

export function cursorOf({ server, newest, seenAt, from }: Position): Cursor {
  // Infinity is no number of JSON.
  const text = JSON.stringify([server, newest, seenAt, Number.isFinite(from) ? from : null])
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as Cursor
}

export function positionOf(cursor: Cursor): Position | null {
  const parsed: unknown = JSON.parse(cursor)
  if (!isList(parsed)) return null
  const [server, newest, seenAt, from] = parsed
  if (typeof server !== 'string' || typeof newest !== 'number' || typeof seenAt !== 'number') return null
  return { server, newest, seenAt, from: typeof from === 'number' ? from : -Infinity }
}

/** Why nothing is read from a position that is none, or is another server's. */
export function cursorRefused(): Fault {
  const message = 'another connection may be another server, so the list is read in full'
  return new Fault('cursor-refused', message, null, false)
}

function isList(parsed: unknown): parsed is readonly unknown[] {
  return Array.isArray(parsed)
}

/**
 * Each read of changes goes back this far behind the newest stamp, for transactions that commit later than others that
 * began after them, and for stamps of whole seconds. What is later still is found by the sweep.
 */
const OVERLAP_MICROS = 5_000_000
/** Reading that many rows again with each refresh costs nothing worth avoiding. */
const FEW_ROWS = 200
/** No time zone is further from UTC, so a stamp without one is not from the future; one that is would hide all others. */
const FUTURE_MICROS = 15 * 3_600_000_000

/** The newest of two stamps, unless it lies in the future of the server's clock. */
export function newestOf(newest: number, stamp: number, serverNow: number): number {
  return stamp > newest && stamp <= serverNow + FUTURE_MICROS ? stamp : newest
}

/** The position after a read that found stamps up to `newest` in `rows` rows. */
export function positionAfter(
  before: Position | null,
  { server, newest, rows, serverNow }: { server: string; newest: number; rows: number; serverNow: number },
): Position {
  const latest = Math.max(newest, before?.newest ?? 0)
  const seenAt = before !== null && latest === before.newest ? before.seenAt : serverNow
  if (latest <= 0) return { server, newest: 0, seenAt, from: -Infinity }
  // After a change of very many rows at once, the overlap would read them again with every refresh; so the beginning
  // moves on with the clock, as the stamps of new changes do.
  const elapsed = rows > FEW_ROWS ? Math.max(0, serverNow - seenAt) : 0
  const from = Math.max(latest + elapsed - OVERLAP_MICROS, before?.from ?? -Infinity)
  return { server, newest: latest, seenAt, from }
}
