import { LISTS } from '../domain/field.ts'
import type { ListName } from '../domain/field.ts'
import type { Replica } from '../sync/replica.ts'
import type { Moment } from '../time/time.ts'
import type { Ages, ReportedState } from './entries.ts'

/** Returns the state of a list that the leader reports besides its rows, as of now. */
export function stateOf(replica: Replica, name: ListName, now: Moment): ReportedState {
  const { reader, refresh, lastFailure, nextTryInMs, askedMs } = replica[name]
  return {
    ...reader.stateAt(now),
    whole: reader.isLoaded,
    accepting: reader.guard.acceptsShorter,
    lastError: lastFailure?.message ?? null,
    waiting: lastFailure?.kind === 'waiting',
    failures: refresh.failuresInAll,
    nextTryMs: nextTryInMs,
    askedMs,
  }
}

const UNKNOWN: Ages = { details: null, availability: null, audited: null }
export const UNKNOWN_AGES: Readonly<Record<ListName, Ages>> = { events: UNKNOWN, venues: UNKNOWN }

export function agesOf(replica: Replica, now: Moment): Readonly<Record<ListName, Ages>> {
  const ages = ({ reader }: Replica[ListName]): Ages => {
    const { freshness, isLoaded } = reader
    if (!isLoaded) return UNKNOWN
    return {
      details: freshness.detailsAgeMs(now),
      availability: freshness.availabilityAgeMs(now),
      audited: freshness.auditedAgeMs(now),
    }
  }
  return { events: ages(replica.events), venues: ages(replica.venues) }
}

/**
 * Returns how long reads of the CRM have failed, for the worse of both lists; 0 if none fails. A shrunk list does not
 * count, because another leader would not believe it either.
 */
export function failsForMs(replica: Replica, sinceMs: number, now: Moment): number {
  const failing = LISTS.map((name) => replica[name]).filter(
    ({ refresh, shrunk }) => refresh.failures > 0 && shrunk === null,
  )
  return Math.max(0, ...failing.map((list) => Math.min(list.ageMs(now) ?? sinceMs, sinceMs)))
}
