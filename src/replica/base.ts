import type { ListName } from '../domain/field.ts'
import { fieldsOf } from './frames.ts'
import type { Freshness } from './freshness.ts'
import { FAULTS } from './packed-withheld.ts'
import { type CrmFailure, type Cursor, cursorOf } from './port.ts'

/** Raised where frames, chunks or heads are written otherwise: no instance reads another format, and none writes an older one. */
export const BASE_FORMAT = 1

/** What a base says of a list beside its rows. */
export interface BaseList {
  /** What the next read of changes goes on from; null where that takes a full read. */
  readonly cursor: Cursor | null
  readonly served: number
  readonly withheld: number
  /** How many rows have no place of their own, in the order of the faults. */
  readonly extras: readonly number[]
  /** As of when the list was last read in full, by the wall clock; null where nobody knows. */
  readonly auditedAtMs: number | null
}

/** What another reader of the same list knew, and this one goes on from; its rows are in the list. */
export interface Carried extends Pick<BaseList, 'cursor' | 'extras'> {
  /** Ages go on counting. */
  readonly freshness: Freshness
  readonly isLoaded: boolean
  /** Why the list is not believed to have got so short; and whether the operator said that it is right. */
  readonly braked: string | null
  readonly accepting: boolean
  /** How the last read failed, with what is left of the time that the CRM asked for: whoever comes next obeys that. */
  readonly failure: CrmFailure | null
  /** In a row, by then. */
  readonly failures: number
}

export type BaseLists = Readonly<Record<ListName, BaseList>>

/** What a base says of a list, of a value that was JSON; null where it is not that. */
export function parseBaseList(given: unknown): BaseList | null {
  const { cursor, served, withheld, extras, auditedAtMs } = fieldsOf(given)
  if (cursor !== null && typeof cursor !== 'string') return null
  if (!isCount(served) || !isCount(withheld) || (auditedAtMs !== null && typeof auditedAtMs !== 'number')) return null
  if (!Array.isArray(extras) || extras.length > FAULTS.length || !extras.every(isCount)) return null
  return { cursor: cursor === null ? null : cursorOf(cursor), served, withheld, extras, auditedAtMs }
}

function isCount(given: unknown): given is number {
  return Number.isSafeInteger(given) && Number(given) >= 0
}
