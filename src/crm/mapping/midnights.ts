import type { Suspicion } from '../../domain/withheld.ts'
import type { DateNotes } from './dates.ts'

const START = 'is at midnight in every row: all events start at 00:00'
const FINISH = 'is at midnight in every row: all events end at 00:00'
const FINISH_OF_DAYS = 'is at midnight in every row: all events last until the end of that day'
const NO_TIMES = 'if another column has the times, join both'

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
  found(start: DateNotes | undefined, finish: DateNotes | undefined): readonly Suspicion[] {
    return [
      ...this.#told(start, this.#starts, START),
      ...this.#told(finish, this.#ends, finish?.areDays === true ? FINISH_OF_DAYS : FINISH),
    ]
  }

  #told(notes: DateNotes | undefined, count: number, what: string): readonly Suspicion[] {
    if (notes === undefined || count === 0 || (count < this.#events && !notes.areDays)) return []
    return [{ column: notes.column, what, count, example: `${NO_TIMES}${daysSaid(notes)}`, where: null }]
  }
}

/** How the configuration says that the dates are days. */
function daysSaid({ midnight, formatOfDay }: DateNotes): string {
  if (formatOfDay === null) return '; if these are days, set wallTimeIn to their zone'
  const format = midnight === null ? null : formatOfDay(midnight)
  return format === null ? '' : `; if these are days, add '${format}' to crm.texts.dates`
}
