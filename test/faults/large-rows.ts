import { EVENT, EVENT_ROW } from '../contract/rows.ts'
import type { Lists } from '../support/files-directory.ts'

const ROW_BYTES = 150_000

/** An event of the usual size, and so many large ones that all of them have at least so many bytes. */
function listsOfAtLeast(bytes: number): Lists {
  const large = Array.from({ length: Math.ceil(bytes / ROW_BYTES) }, (_, index) => ({
    ...EVENT_ROW,
    Id: `4c8e17b2-90d5-4a3f-8b6c-${String(index).padStart(12, '0')}`,
    Name: 'x'.repeat(ROW_BYTES),
    Start: '2036-07-12T19:30:00Z',
    Finish: '2036-07-12T22:00:00Z',
  }))
  return { events: JSON.stringify([EVENT_ROW, ...large]), venues: '[]' }
}

/** Lists whose calendar fills more than the sockets between. */
export const LARGE_LISTS: Lists = listsOfAtLeast(3_000_000)

export const TARGET: string = `/api/events/${EVENT}`
/** A page of some 2 MB. */
export const LARGE_TARGET = '/api/events?limit=14'
/** A calendar of some 2 MB: its first page. */
export const CALENDAR_TARGET = '/api/events.ics'
export const LARGE_IS_ON = { lists: 'on', feeds: { calendar: 'on' } } as const

export function requestTo(target: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`
}
