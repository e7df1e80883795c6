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

/** What a server made of as many requests as it could take. */
export interface Load {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** Answers with a status of 400 or more; 404 to the unknown ids among them. */
  readonly refused: number
  /** Connections that failed, and requests that were not answered in time. */
  readonly errors: number
}

/** A client that asks for random events in random formats, as fast as it is answered. */
export interface Loader {
  readonly load: (port: number, seconds: number) => Promise<Load>
}
