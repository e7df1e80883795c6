import { MEDIA_TYPES } from '../../src/formats/media-types.ts'

/** What a browser asks for. */
export const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

/** What callers ask for: all six types, a browser's, and nothing in particular. */
export const ACCEPTS: readonly string[] = [...MEDIA_TYPES, BROWSER, '*/*']

/** What all callers say as Host. */
export const HOST = 'bench'

/** The share of requests for ids that are nobody's. */
export const UNKNOWN_SHARE = 0.05

/** Connections that are kept open and used again. */
export const CONNECTIONS = 64

/** With it in place of its last characters an id is nobody's. */
export const UNKNOWN_ENDING = 'ffffffffffff'

export function unknown(id: string): string {
  return id.slice(0, -UNKNOWN_ENDING.length) + UNKNOWN_ENDING
}
