import type { Zone } from '../domain/zone.ts'
import type { EventRecord } from '../domain/event.ts'
import { type DateTime, parseDateTimeText } from '../domain/date-time.ts'
import { type FieldType, type Link, isTemplated } from '../domain/field.ts'
import { type FurtherField, type FurtherValue, FIELD_TYPE_OF } from '../domain/further.ts'
import { type EventStatus, statusPosition, statusSaid } from '../domain/event-status.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'
import type { Decimal } from '../domain/number.ts'
import type { VenueRecord } from '../domain/venue.ts'

/** The further fields of an event that have a meaning for feeds (contract §7). */
export interface EventMeanings {
  readonly description: string | null
  readonly image: string | null
  /** `null` if the event has no status, or one that is not known here. */
  readonly status: EventStatus | null
  /** The organisation's own words for the status, such as the new date; `null` if it says nothing. */
  readonly statusText: string | null
  /** The highest of several prices; `null` if it is blank, and absent if the service has no such field. */
  readonly highestPrice?: string | null
  readonly organizer: string | null
  readonly performers: readonly string[]
  /** When the sale of tickets begins. */
  readonly onSaleFrom: string | null
}

const NOTHING: EventMeanings = {
  description: null,
  image: null,
  status: null,
  statusText: null,
  organizer: null,
  performers: [],
  onSaleFrom: null,
}

/** Returns a function that reads these fields of an event: the further fields of these names, if they have these types. */
export function meaningsOf(further: readonly FurtherField[]): (event: EventRecord) => EventMeanings {
  const positionOf = (name: string, ...types: readonly FieldType[]): number =>
    further.findIndex((field) => field.name === name && types.some((type) => FIELD_TYPE_OF[field.type] === type))
  const [description, image, status] = [
    positionOf('Description', 'text'),
    positionOf('Image', 'text'),
    statusPosition(further),
  ]
  const [statusText, highest] = [positionOf('StatusText', 'text'), positionOf('HighestPrice', 'decimal')]
  const [organizer, performer] = [positionOf('Organizer', 'text'), positionOf('Performer', 'text', 'tags')]
  const onSaleFrom = positionOf('OnSaleFrom', 'date-time')
  if (Math.max(description, image, status, highest, organizer, performer, onSaleFrom) === -1) return () => NOTHING
  return ({ Further = [] }) => {
    // Texts, decimals and date-times.
    const textAt = (position: number): string | null => {
      const value = Further[position] ?? null
      return typeof value === 'string' ? value : null
    }
    const said = textAt(status)
    return {
      description: textAt(description),
      image: textAt(image),
      status: statusSaid(said ?? ''),
      statusText: [textAt(statusText), said].find(saysSomething) ?? null,
      ...(highest === -1 ? {} : { highestPrice: textAt(highest) }),
      organizer: textAt(organizer),
      performers: textsOf(Further[performer] ?? null),
      onSaleFrom: textAt(onSaleFrom),
    }
  }
}

/** Returns a text or the texts of a list, those that say something. */
function textsOf(value: FurtherValue): readonly string[] {
  const texts = typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? value : []
  return texts.filter(saysSomething)
}

/** Returns the target of the first link to tickets that needs nothing filled in (contract §6). */
export function ticketsHref(links: readonly Link[]): string | null {
  return links.find(({ Rel, Href }) => Rel === 'tickets' && !isTemplated(Href))?.Href ?? null
}

/** Returns true if a text is neither `null` nor blank. */
export function saysSomething(text: string | null): text is string {
  if (text === null) return false
  const first = text.charCodeAt(0)
  return (first > 0x20 && first < 0x7f) || trimWhiteSpace(text) !== ''
}

/** Returns a venue's name and the parts of its address that are not blank, in the order of a postal address. */
export function partsOf(venue: VenueRecord): readonly string[] {
  const { AddressState, AddressCountry } = venue
  return [venue.Name, ...streetOf(venue), ...townOf(venue), AddressState, AddressCountry].filter(saysSomething)
}

/** Postal codes that begin with a digit stand before the town, as in `01067 Dresden`, except in countries with states. */
function townOf({ AddressCity: town, AddressPostalCode: code, AddressState: state }: VenueRecord): (string | null)[] {
  const isBefore = saysSomething(town) && saysSomething(code) && /^\s*\d/.test(code) && !saysSomething(state)
  return isBefore ? [`${trimWhiteSpace(code)} ${trimWhiteSpace(town)}`] : [town, code]
}

/** Returns the lines of a venue's street that are not blank. */
export function streetOf({ AddressStreet1, AddressStreet2, AddressStreet3 }: VenueRecord): readonly string[] {
  return [AddressStreet1, AddressStreet2, AddressStreet3].filter(saysSomething)
}

/**
 * Returns the first and the last day, `YYYY-MM-DD`, of an event that lasts whole days in the zone of its dates: from
 * 00:00, or the first moment of a day without midnight, to 23:59:59. `null` for any other event.
 */
export function wholeDaysOf(
  { Start, Finish }: Pick<EventRecord, 'Start' | 'Finish'>,
  zone: Zone | undefined,
): readonly [string, string] | null {
  const areWhole = isAt(Finish, 'T23:59:59') && (isAt(Start, 'T00:00:00') || beginsDay(Start, zone))
  const [first, last] = [Start.slice(0, DAY_LENGTH), Finish.slice(0, DAY_LENGTH)]
  return areWhole && first <= last ? [first, last] : null
}

const DAY_LENGTH = 'YYYY-MM-DD'.length

/** Whether clocks are put forward at the midnight before a date, which is the first moment of its day. */
function beginsDay(canonical: DateTime, zone: Zone | undefined): boolean {
  const read = zone === undefined ? null : parseDateTimeText(canonical)
  if (zone === undefined || read?.kind !== 'instant' || read.instant.ticks !== 0) return false
  const { epochSeconds } = read.instant
  const [before, from] = [epochSeconds - 1, epochSeconds].map((at) => at + zone.offsetSecondsAt(at))
  return before !== undefined && from !== undefined && from - before > 1 && (before + 1) % DAY_SECONDS === 0
}

const DAY_SECONDS = 86_400

/** Whether a date has this time, without a fraction. */
function isAt(canonical: DateTime, time: string): boolean {
  return canonical.startsWith(time, DAY_LENGTH) && canonical.charAt(DAY_LENGTH + time.length) !== '.'
}

export function isZero(decimal: Decimal): boolean {
  return !/[1-9]/.test(decimal)
}

/** Returns true if a venue's coordinates are known: a CRM without coordinates sends 0. */
export function hasCoordinates({ Latitude, Longitude }: VenueRecord): boolean {
  return !isZero(Latitude) || !isZero(Longitude)
}
