import type { ListName } from '../domain/field.ts'
import type { Replica } from '../replica/replica.ts'
import type { Moment } from '../replica/time.ts'
import type { Ages, ListState } from './entries.ts'

export const LISTS: readonly ListName[] = ['venues', 'events']

/** What the reader knows of a list besides its rows, as of now. */
export function stateOf(replica: Replica, name: ListName): ListState {
  const { reader, list, lastFailure, nextTryInMs } = replica[name]
  return {
    cursor: reader.travellingCursor,
    whole: reader.isLoaded,
    served: list.served,
    withheld: list.withheld,
    extras: [...list.extras.counts],
    braked: reader.belief.braked?.message ?? null,
    accepting: reader.belief.acceptsShorter,
    lastError: lastFailure?.message ?? null,
    nextTryMs: nextTryInMs,
  }
}

export function agesOf(replica: Replica, now: Moment): Readonly<Record<ListName, Ages>> {
  const ages = ({ reader }: Replica[ListName]): Ages => {
    const { freshness, isLoaded } = reader
    if (!isLoaded) return { details: null, availability: null, audited: null }
    return {
      details: freshness.detailsAgeMs(now),
      availability: freshness.availabilityAgeMs(now),
      audited: freshness.auditedAgeMs(now),
    }
  }
  return { events: ages(replica.events), venues: ages(replica.venues) }
}
