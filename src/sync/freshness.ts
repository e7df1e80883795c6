import { type Moment, earlierBy, elapsedMs, laterOf, momentAt } from '../time/time.ts'

/** What is known of a list's age. All moments are those of a read's beginning, its source's lag subtracted. */
export class Freshness {
  #details: Moment | null = null
  #availability: Moment | null = null
  #audited: Moment | null = null
  /** A read of the availability that left rows out: good as of `asOf` once the details are known as of `onceMs`. */
  #pending: { readonly asOf: Moment; readonly onceMs: number } | null = null

  /** A read reported all changes of the details up to `asOf`. */
  confirmDetails(asOf: Moment, lagMs: number): void {
    const moment = earlierBy(asOf, lagMs)
    this.#details = laterOf(this.#details, moment)
    if (this.#pending === null || this.#pending.onceMs > moment.monotonicMs) return
    this.#availability = laterOf(this.#availability, this.#pending.asOf)
    this.#pending = null
  }

  confirmAvailability(asOf: Moment, lagMs: number): void {
    this.#availability = laterOf(this.#availability, earlierBy(asOf, lagMs))
    this.#pending = null
  }

  /**
   * As `confirmAvailability`, but rows that are served were left out. They may be gone, their tickets as old as can be:
   * only once all changes of the details up to `onceMs` are known do those that are still served prove to be unchanged.
   */
  confirmAvailabilityOnce(asOf: Moment, lagMs: number, onceMs: number): void {
    this.#pending ??= { asOf: earlierBy(asOf, lagMs), onceMs }
  }

  audit(asOf: Moment, lagMs: number): void {
    this.#audited = laterOf(this.#audited, earlierBy(asOf, lagMs))
  }

  /** Takes over what another process knew as of `wallMs`, by the wall clock; false if nobody knows when that was. */
  goOnFrom(wallMs: number | null, now: Moment): boolean {
    if (wallMs === null || wallMs > now.wallMs) return false
    const asOf = momentAt(wallMs, now)
    this.confirmDetails(asOf, 0)
    this.confirmAvailability(asOf, 0)
    return true
  }

  /** Age of the older field group in milliseconds, null where the list was never read in full. */
  confirmedAgeMs(now: Moment): number | null {
    if (this.#details === null || this.#availability === null) return null
    return Math.max(elapsedMs(this.#details, now), elapsedMs(this.#availability, now))
  }

  detailsAgeMs(now: Moment): number | null {
    return this.#details === null ? null : elapsedMs(this.#details, now)
  }

  availabilityAgeMs(now: Moment): number | null {
    return this.#availability === null ? null : elapsedMs(this.#availability, now)
  }

  auditedAgeMs(now: Moment): number | null {
    return this.#audited === null ? null : elapsedMs(this.#audited, now)
  }

  /** Whether all changes of the details are known as of `moment` or later. */
  areDetailsConfirmedSince(moment: Moment): boolean {
    return this.#details !== null && this.#details.monotonicMs >= moment.monotonicMs
  }

  /** Whether everything is known as of `moment` or later. */
  isConfirmedSince(moment: Moment): boolean {
    if (this.#details === null || this.#availability === null) return false
    return Math.min(this.#details.monotonicMs, this.#availability.monotonicMs) >= moment.monotonicMs
  }
}

/**
 * How a list stands towards the operator's maximum age. `empty`: its first full read has not ended, so nothing is known to
 * be absent. `stale`: past the maximum age, yet within `staleIfError` of it, or served on by the shrink guard.
 */
export type Standing = 'empty' | 'fresh' | 'stale' | 'expired'

export interface Bounds {
  readonly maxAgeMs: number
  readonly staleIfErrorMs: number
}

/** The standing of data `ageMs` old (null: never read in full). Both edges belong to the better side. */
export function standingOf(ageMs: number | null, bounds: Bounds): Standing {
  if (ageMs === null) return 'empty'
  // A maximum age of 0 is never met by data that was there before the request: every request waits.
  if (ageMs <= bounds.maxAgeMs && bounds.maxAgeMs > 0) return 'fresh'
  if (bounds.staleIfErrorMs > 0 && ageMs <= bounds.maxAgeMs + bounds.staleIfErrorMs) return 'stale'
  return 'expired'
}
