/** What calendars say of the changes of a record (RFC 5545 §3.8.7). */
export interface Revision {
  /** Since when its present text has been served: whole seconds since 1970, 0 if unknown. */
  readonly sinceS: number
  /**
   * Rises with each change of time or place: whole seconds since 2020 at the last one, or one more than before. Counted
   * from 0, it would fall after a restart without a snapshot.
   */
  readonly sequence: number
}

/** What a change of a record means for calendars. */
export type ChangeOfRecord = 'unseen' | 'text' | 'time-or-place'

/** Returns the wall clock, whole seconds since 1970; 0 if unknown. */
export type WallSeconds = () => number

export const noClock: WallSeconds = () => 0

/** 2020-01-01: the sequence is an int32 in calendars. */
const SEQUENCE_BEGINS_S = 1_577_836_800

export const UNREVISED: Revision = { sinceS: 0, sequence: 0 }

/** Returns the revision after a change. */
export function revised({ sinceS, sequence }: Revision, change: ChangeOfRecord, nowS: number): Revision {
  if (change === 'unseen') return { sinceS, sequence }
  return { sinceS: nowS, sequence: change === 'text' ? sequence : Math.max(sequence + 1, nowS - SEQUENCE_BEGINS_S) }
}

/** Returns the revision of a text that is made of two records. */
export function joined(one: Revision, other: Revision): Revision {
  return { sinceS: Math.max(one.sinceS, other.sinceS), sequence: Math.max(one.sequence, other.sequence) }
}

export function isSameRevision(one: Revision, other: Revision): boolean {
  return one.sinceS === other.sinceS && one.sequence === other.sequence
}
