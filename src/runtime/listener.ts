// The room of the runtimes, the only files that name one: bun.ts and node.ts listen and hand each call on; web.ts asks others.
// In: an address and a function from call to answer. Out: a listener that can be stopped without cutting anybody off.
import type { Answer, Call } from '../http/call.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** The least that an idle connection lives. */
  readonly idleMs: number
  readonly answer: (call: Call) => Answer | Promise<Answer>
}

/** A listener that accepts connections. */
export interface Listener {
  readonly host: string
  readonly port: number
  /** Accepts nothing new, lets what is in flight end, and closes what is left after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

export interface PublicListener extends Listener {
  /**
   * How long idle connections are kept, from their next request on. Returns the least that one lives: what was asked for, or
   * all that the runtime can do.
   */
  keepIdle(ms: number): number
}

export interface FetchListenOptions {
  readonly host: string
  readonly port: number
  readonly fetch: (request: Request) => Response | Promise<Response>
}

/**
 * Listens for a web-standard handler: for the operations side, where speed is not the point. As `listen` it rejects with a
 * system error, whose `code` says why (`EADDRINUSE` …).
 */
export type ListenFetch = (options: FetchListenOptions) => Promise<Listener>

/** The address people can open, with brackets around IPv6. */
export function addressOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** How long requests are held that come while a listener stops: what a client sent before it could know arrives. */
const LINGER_MS = 100

/**
 * The end of a listener. While it lingers it still accepts, and what comes is held; then it stops to listen, and each of
 * those has its answer as the last of its connection. So the clients of a busy service are neither cut off nor come again.
 */
export class Ending {
  /** What requests wait for that come now; null while nobody ends it. */
  held: Promise<void> | null = null

  /** Lets what is in flight end, by `end`, which closes idle connections; what is left after `drainMs` is cut off. */
  async run(drainMs: number, end: () => Promise<void>, cutOff: () => void): Promise<void> {
    const timer = setTimeout(cutOff, drainMs)
    // What is on its way on an idle connection would be lost. One whose request is held is not idle.
    const { promise, resolve } = Promise.withResolvers<void>()
    this.held = promise
    await new Promise((then) => setTimeout(then, Math.min(LINGER_MS, drainMs)))
    const ended = end()
    resolve()
    await ended
    clearTimeout(timer)
  }
}

// Not one of these: nothing to cut off, and nothing the WHATWG parser could change.
const SUSPECT = /[^\w!$&'()*+,\-/:;=@[\]|~]/

/**
 * The path of a URL as browsers parse it (WHATWG), of a request target that begins with a slash and may carry a query and
 * a fragment. In the common case one scan, and no URL is built.
 */
function pathnameOfTarget(target: string): string {
  if (!SUSPECT.test(target)) return target
  const end = target.search(/[?#]/)
  // With a host before it: `//x` is a path here, never an authority (RFC 9112 §3.2.1).
  return new URL(`http://h${end === -1 ? target : target.slice(0, end)}`).pathname
}

/** The same of an absolute URL, or of one whose host no URL may have, as clients can send it; empty where it has no path. */
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
