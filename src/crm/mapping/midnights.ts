import type { FoundSuspicion, SuspicionCode } from '../../domain/withheld.ts'
import type { DateNotes } from './dates.ts'

/** Counts the events of one read that start or end at midnight. */
export class Midnights {
  #events = 0
  #starts = 0
  #ends = 0

  /** Counts the dates of an event that is served. */
  see(start: DateNotes, finish: DateNotes): void {
    this.#events++
    if (start.isMidnight) this.#starts++
    if (finish.isMidnight) this.#ends++
  }

  /** Returns the columns of dates that are at midnight in every row. */
  found(start: DateNotes | undefined, finish: DateNotes | undefined): readonly FoundSuspicion[] {
    return [
      ...this.#suspicionsOf(start, this.#starts, 'midnight-start'),
      ...this.#suspicionsOf(finish, this.#ends, finish?.areDays === true ? 'midnight-days' : 'midnight-finish'),
    ]
  }

  #suspicionsOf(notes: DateNotes | undefined, count: number, code: SuspicionCode): readonly FoundSuspicion[] {
    if (notes === undefined || count === 0 || (count < this.#events && !notes.areDays)) return []
    return [{ column: notes.column, code, ...formatOf(notes), count, first: null }]
  }
}

/** The format that says that the dates are days; blank if none does, absent if the CRM's kind has no formats. */
function formatOf({ midnight, formatOfDay }: DateNotes): { readonly of?: string } {
  if (formatOfDay === null) return {}
  return { of: (midnight === null ? null : formatOfDay(midnight)) ?? '' }
}
