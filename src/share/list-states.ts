import type { ListName } from '../domain/field.ts'
import type { Replica } from '../replica/replica.ts'
import type { Moment } from '../replica/time.ts'
import type { Ages, ListState } from './entries.ts'

export const LISTS: readonly ListName[] = ['venues', 'events']

/** What the reader knows of a list besides its rows, as of now. */
export function stateOf(replica: Replica, name: ListName): ListState {
  const { reader, list, refresh, lastFailure, nextTryInMs, askedMs } = replica[name]
  return {
    cursor: reader.travellingCursor,
    whole: reader.isLoaded,
    served: list.served,
    withheld: list.withheld,
    extras: [...list.extras.counts],
    braked: reader.belief.braked?.message ?? null,
    accepting: reader.belief.acceptsShorter,
    lastError: lastFailure?.message ?? null,
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

/** How long reads of the CRM have failed, of the list that is worse off; 0 while they do not. A brake is no failure that another could avoid. */
export function failsForMs(replica: Replica, sinceMs: number, now: Moment): number {
  const failing = LISTS.map((name) => replica[name]).filter(({ refresh, braked }) => refresh.failures > 0 && !braked)
  return Math.max(0, ...failing.map((list) => Math.min(list.ageMs(now) ?? sinceMs, sinceMs)))
}
