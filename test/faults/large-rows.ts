import { EVENT, EVENT_ROW } from '../contract/rows.ts'
import type { Lists } from '../support/files-directory.ts'

const LARGE_EVENT = '4c8e17b2-90d5-4a3f-8b6c-d2f1e07a5934'

/** One event of the usual size, and one of which an answer fills more than the sockets between. */
export const LARGE_LISTS: Lists = {
  events: JSON.stringify([EVENT_ROW, { ...EVENT_ROW, Id: LARGE_EVENT, Name: 'x'.repeat(3_000_000) }]),
  venues: '[]',
}

export const TARGET: string = `/api/events/${EVENT}`
export const LARGE_TARGET: string = `/api/events/${LARGE_EVENT}`

export function requestTo(target: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`
}
