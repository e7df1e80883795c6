import { type FurtherField, FIELD_TYPE_OF } from './further.ts'
import { trimWhiteSpace } from './white-space.ts'

/** What the further field `Status` of an event may mean (contract §7). */
export const EVENT_STATUSES = ['scheduled', 'cancelled', 'postponed', 'rescheduled'] as const

export type EventStatus = (typeof EVENT_STATUSES)[number]

/** Returns the position of `Status` among the further fields of events; -1 if none of them is a text of that name. */
export function statusPosition(further: readonly FurtherField[]): number {
  return further.findIndex(({ name, type }) => name === 'Status' && FIELD_TYPE_OF[type] === 'text')
}

/** Returns what a text means: `Cancelled (illness)` is cancelled. `null` if it means none of the four. */
export function statusSaid(text: string): EventStatus | null {
  const words = trimWhiteSpace(text).toLowerCase()
  return EVENT_STATUSES.find((word) => beginsWithWord(words, word)) ?? null
}

/** Returns true if a text begins with `word`, and no letter follows it. */
export function beginsWithWord(text: string, word: string): boolean {
  return text.startsWith(word) && !LETTER.test(text.slice(word.length))
}

const LETTER = /^[\p{L}\p{M}]/u
