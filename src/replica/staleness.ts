/**
 * How a list stands towards the operator's bound. `empty`: its first full read has not ended, so that nothing is known to
 * be absent. `stale`: past the bound, yet within `staleIfError` of it.
 */
export type Standing = 'empty' | 'fresh' | 'stale' | 'expired'

export interface Bounds {
  readonly boundMs: number
  readonly staleIfErrorMs: number
}

/** The standing of data `ageMs` old (null: never read in full). Both edges belong to the better side. */
export function standingOf(ageMs: number | null, bounds: Bounds): Standing {
  if (ageMs === null) return 'empty'
  // A bound of 0 is never met by data that was there before the request: every request waits.
  if (ageMs <= bounds.boundMs && bounds.boundMs > 0) return 'fresh'
  if (bounds.staleIfErrorMs > 0 && ageMs <= bounds.boundMs + bounds.staleIfErrorMs) return 'stale'
  return 'expired'
}
