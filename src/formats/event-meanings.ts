import type { EventRecord } from '../domain/event.ts'
import type { FurtherField } from '../domain/further.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'

const STATUSES = ['scheduled', 'cancelled', 'postponed', 'rescheduled'] as const

type EventStatus = (typeof STATUSES)[number]

/** The further fields of an event that have a meaning for feeds (contract §7). */
export interface EventMeanings {
  readonly description: string | null
  readonly image: string | null
  /** `null` if the event has no status, or one that is not known here. */
  readonly status: EventStatus | null
}

const NOTHING: EventMeanings = { description: null, image: null, status: null }

/** Returns a function that reads these fields of an event: the further fields of these names, if they are texts. */
export function meaningsOf(further: readonly FurtherField[]): (event: EventRecord) => EventMeanings {
  const positionOf = (name: string): number =>
    further.findIndex((field) => field.name === name && field.type === 'text')
  const [description, image, status] = [positionOf('Description'), positionOf('Image'), positionOf('Status')]
  if (description === -1 && image === -1 && status === -1) return () => NOTHING
  return ({ Further = [] }) => {
    const textAt = (position: number): string | null => {
      const value = Further[position] ?? null
      return typeof value === 'string' ? value : null
    }
    const word = trimWhiteSpace(textAt(status) ?? '').toLowerCase()
    return {
      description: textAt(description),
      image: textAt(image),
      status: STATUSES.find((known) => known === word) ?? null,
    }
  }
}
