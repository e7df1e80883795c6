import { type Moment, earlierBy, elapsedMs, laterOf, momentAt } from '../time/time.ts'

/** The age of a list. All moments are the beginning of a read with its source's lag subtracted. */
export class Freshness {
  #details: Moment | null = null
  #availability: Moment | null = null
  #audited: Moment | null = null
  /**
   * A read of the availability that left rows out. It is valid as of `asOf` once the details are known as of `onceMs`.
   */
  #pending: { readonly asOf: Moment; readonly onceMs: number } | null = null

  /** Records that a read reported all changes of the details up to `asOf`. */
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
   * Like `confirmAvailability`, for a read that left out served rows. Those rows may be gone, or their tickets
   * outdated. The read counts only once all changes of the details up to `onceMs` are known: a row still served then
   * was unchanged.
   */
  confirmAvailabilityOnce(asOf: Moment, lagMs: number, onceMs: number): void {
    this.#pending ??= { asOf: earlierBy(asOf, lagMs), onceMs }
  }

  audit(asOf: Moment, lagMs: number): void {
    this.#audited = laterOf(this.#audited, earlierBy(asOf, lagMs))
  }

  /**
   * Continues from what another process knew as of `wallMs`. Returns false if that time is unknown or in the future.
   */
  goOnFrom(wallMs: number | null, now: Moment): boolean {
    if (wallMs === null || wallMs > now.wallMs) return false
    const asOf = momentAt(wallMs, now)
    this.confirmDetails(asOf, 0)
    this.confirmAvailability(asOf, 0)
    return true
  }

  /** Returns the age of the older field group in ms; `null` if the list was never read in full. */
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

  /** Returns true if all changes of the details up to `moment` are known. */
  areDetailsConfirmedSince(moment: Moment): boolean {
    return this.#details !== null && this.#details.monotonicMs >= moment.monotonicMs
  }

  /** Returns true if all changes up to `moment` are known. */
  isConfirmedSince(moment: Moment): boolean {
    if (this.#details === null || this.#availability === null) return false
    return Math.min(this.#details.monotonicMs, this.#availability.monotonicMs) >= moment.monotonicMs
  }
}

/**
 * The state of a list relative to the operator's maximum age. `empty`: the first full read has not ended, so no row is
 * known to be absent. `stale`: past the maximum age, but within `staleIfError` of it or still served by the shrink
 * guard.
 */
export type Standing = 'empty' | 'fresh' | 'stale' | 'expired'

export interface AgeLimits {
  readonly maxAgeMs: number
  readonly staleIfErrorMs: number
}

/** Returns the state of data that is `ageMs` old; `null` means never read in full. Both limits are inclusive. */
export function standingOf(ageMs: number | null, ageLimits: AgeLimits): Standing {
  if (ageMs === null) return 'empty'
  // With a maximum age of 0, every request waits: data that is older than the request never counts as fresh.
  if (ageMs <= ageLimits.maxAgeMs && ageLimits.maxAgeMs > 0) return 'fresh'
  if (ageLimits.staleIfErrorMs > 0 && ageMs <= ageLimits.maxAgeMs + ageLimits.staleIfErrorMs) return 'stale'
  return 'expired'
}
