import { MEDIA_TYPES } from '../../src/formats/media-types.ts'

/** A browser's Accept header. */
export const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

/** All Accept headers that callers send: six types, a browser's, and any type. */
export const ACCEPTS: readonly string[] = [...MEDIA_TYPES, BROWSER, '*/*']

/** The Host header of all callers. */
export const HOST = 'bench'

/** The share of requests for unknown ids. */
export const UNKNOWN_SHARE = 0.05

/** The number of keep-alive connections. */
export const CONNECTIONS = 64

/** The end of all unknown ids. */
export const UNKNOWN_ENDING = 'ffffffffffff'

export function unknown(id: string): string {
  return id.slice(0, -UNKNOWN_ENDING.length) + UNKNOWN_ENDING
}

/** The result of sending a server as many requests as it can answer. */
export interface Load {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** The number of responses with a status of 400 or more, including 404 for unknown ids. */
  readonly refused: number
  /** The number of failed connections and of requests that timed out. */
  readonly errors: number
}

/** A client that requests random events in random formats as fast as possible. */
export interface Loader {
  readonly load: (port: number, seconds: number) => Promise<Load>
}
