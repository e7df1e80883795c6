// The runtimes. Only the files of this room name one: bun.ts and node.ts, of which runtime.ts loads one, listen and
// pass each call on; outgoing.ts sends requests.
// In: an address and a function from call to answer. Out: a listener that stops without cutting off a request.
import type { LookupFunction } from 'node:net'
import type { Descriptors } from '../crm/kit/crm-limits.ts'
import type { Answer, Call } from '../http/call.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** The shortest time an idle connection is kept, ms. */
  readonly idleMs: number
  readonly answer: (call: Call) => Answer | Promise<Answer>
}

export interface Listener {
  readonly host: string
  readonly port: number
  /** Accepts no new connections, completes running requests, and closes the remaining connections after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

export interface PublicListener extends Listener {
  /** How many file descriptors the process may open. */
  readonly descriptors: number
  /**
   * Changes how long idle connections are kept, from their next request on. Returns the guaranteed time in ms, which
   * the runtime may limit.
   */
  keepIdle(ms: number): number
}

/** Descriptors held back for files and connections of Marquee's own: callers may use up all others. */
export interface KeptDescriptors extends Descriptors {
  /** Runs work that connects to a host before it returns. */
  connect<Result>(host: string, work: () => Result): Result
  /** Looks a host up like node:dns. */
  readonly lookup: LookupFunction
}

export interface FetchListenOptions {
  readonly host: string
  readonly port: number
  readonly fetch: (request: Request) => Response | Promise<Response>
}

/** Returns the URL that people can open, with brackets around an IPv6 address. */
export function addressOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * How long the listener still accepts and holds requests after a stop begins, for clients that do not know of it yet,
 * ms.
 */
const LINGER_MS = 100
/**
 * The turns of the event loop after that. If it stood still, the timer may fire before the requests that arrived
 * meanwhile are read: one turn accepts a connection, the next reads its request.
 */
const TURNS = 4

/**
 * The end of a listener. First it still accepts connections and holds new requests. Then it stops listening, and each
 * held request gets its answer, the last one on its connection. Clients of a busy service are neither cut off nor
 * reconnected.
 */
export class Ending {
  /** The promise that new requests wait for; `null` while the listener is not ending. */
  held: Promise<void> | null = null

  /**
   * Ends the listener. `end` closes idle connections and resolves when the running requests are complete; `cutOff`
   * closes the rest after `drainMs`.
   */
  async run(drainMs: number, end: () => Promise<void>, cutOff: () => void): Promise<void> {
    const timer = setTimeout(cutOff, drainMs)
    // A request on its way on an idle connection would be lost. A connection with a held request is not idle.
    const { promise, resolve } = Promise.withResolvers<void>()
    this.held = promise
    await new Promise((then) => setTimeout(then, Math.min(LINGER_MS, drainMs)))
    for (let turn = 0; turn < TURNS; turn++) await new Promise((then) => setImmediate(then))
    const ended = end()
    resolve()
    await ended
    clearTimeout(timer)
  }
}

// Targets without such a character have no query or fragment, and the WHATWG parser would not change them.
const SUSPECT = /[^\w!$&'()*+,\-/:;=@[\]|~]/

/**
 * Returns the path, parsed as in browsers (WHATWG), of a request target that begins with a slash. The common case takes
 * one scan and builds no URL.
 */
function pathnameOfTarget(target: string): string {
  if (!SUSPECT.test(target)) return target
  const end = target.search(/[?#]/)
  // Parsed with a host in front: `//x` is a path here, not an authority (RFC 9112 §3.2.1).
  return new URL(`http://h${end === -1 ? target : target.slice(0, end)}`).pathname
}

/** Returns the path of an absolute URL, even if its host is invalid; empty if the text is no absolute URL. */
export function pathnameOfUrl(url: string): string {
  if (url.charCodeAt(0) === SLASH) return pathnameOfTarget(url)
  const scheme = url.indexOf('://')
  if (scheme === -1) return ''
  const from = url.indexOf('/', scheme + 3)
  if (from === -1) return '/'
  const query = url.indexOf('?', scheme + 3)
  return query !== -1 && query < from ? '/' : pathnameOfTarget(url.slice(from))
}

const SLASH = 47
