import type { Cursor } from '../../replica/port.ts'
import { Fault } from './fault.ts'

/** How far the changes of a list are known. */
export interface Position {
  /** Which server said so: on another one it means nothing. */
  readonly server: string
  /** The next read of changes begins behind this stamp, in microseconds. */
  readonly after: number
}

export function cursorOf({ server, after }: Position): Cursor {
  // Infinity is no number of JSON.
  const text = JSON.stringify([server, Number.isFinite(after) ? after : null])
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as Cursor
}

export function positionOf(cursor: Cursor): Position | null {
  const parsed: unknown = JSON.parse(cursor)
  if (!isList(parsed)) return null
  const [server, after] = parsed
  if (typeof server !== 'string') return null
  return { server, after: typeof after === 'number' ? after : -Infinity }
}

/** Why nothing is read from a position that is none, or is another server's. */
export function cursorRefused(): Fault {
  const message = 'another connection may be another server, so the list is read in full'
  return new Fault('cursor-refused', message, null, false)
}

function isList(parsed: unknown): parsed is readonly unknown[] {
  return Array.isArray(parsed)
}
