import { FeedFormatter } from '../formats/feed-formatter.ts'
import type { FormatSettings } from '../formats/format.ts'
import type { FeedType } from '../formats/media-types.ts'
import type { Examples } from './examples.ts'
import { type JsonObject, WrittenJson } from './json-text.ts'

/** The feeds of an instance that are on, and their settings (contract §6). */
export interface FeedInstance extends FormatSettings {
  readonly feeds: { readonly calendar: boolean; readonly jsonLd: boolean }
  readonly page: string | null
  readonly currency: string | null
}

const CALENDAR: JsonObject = { type: 'string', description: 'A VCALENDAR (RFC 5545).' }

const JSON_LD: JsonObject = {
  type: 'object',
  description: 'The event in the vocabulary of schema.org, for search engines. Unknown members are absent.',
  required: ['@context', '@type', 'startDate', 'eventStatus'],
  properties: {
    '@context': { type: 'string', const: 'https://schema.org' },
    '@type': { type: 'string', const: 'Event' },
    startDate: { type: 'string', format: 'date-time' },
    eventStatus: { type: 'string', format: 'uri' },
  },
}

function formatterOf(instance: FeedInstance): FeedFormatter {
  return new FeedFormatter({ ...instance, calendarName: null })
}

/** Returns the media types of an event besides the six, if feeds are on (contract §6). */
export function feedContent(instance: FeedInstance, { event, venue }: Examples): JsonObject {
  const { feeds } = instance
  const formatter = formatterOf(instance)
  const content: [FeedType, JsonObject][] = []
  if (feeds.calendar) content.push(['text/calendar', calendarContent(instance, { event, venue }, false)])
  if (feeds.jsonLd) {
    const sample = { value: new WrittenJson(formatter.jsonLd(event, venue, true)) }
    content.push(['application/ld+json', { schema: JSON_LD, examples: { sample } }])
  }
  return Object.fromEntries(content)
}

/** Returns the content of a calendar with the sample's event, alone or to subscribe to. */
export function calendarContent(
  instance: FeedInstance,
  { event, venue }: Pick<Examples, 'event' | 'venue'>,
  isSubscription: boolean,
): JsonObject {
  const formatter = formatterOf(instance)
  const component = formatter.component(event, formatter.place(venue)) ?? ''
  const value = isSubscription ? formatter.subscription([component]) : formatter.calendar(component)
  return { schema: CALENDAR, examples: { sample: { value } } }
}
