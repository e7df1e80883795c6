import { type DateTime, type Instant, parseDateTimeText } from './date-time.ts'

/** A point in time as two comparable numbers: epoch milliseconds, and units of 100 ns within the millisecond. */
export interface Tick {
  readonly ms: number
  readonly ticks: number
}

export const TICKS_PER_MS = 10_000

export function tickOf({ epochSeconds, ticks }: Instant): Tick {
  const ms = Math.floor(ticks / TICKS_PER_MS)
  return { ms: epochSeconds * 1000 + ms, ticks: ticks - ms * TICKS_PER_MS }
}

export function tickOfDateTime(canonical: DateTime): Tick {
  const read = parseDateTimeText(canonical)
  if (read?.kind !== 'instant') throw new Error('a canonical date-time has an offset')
  return tickOf(read.instant)
}

export function isBefore(left: Tick, right: Tick): boolean {
  return left.ms < right.ms || (left.ms === right.ms && left.ticks < right.ticks)
}
