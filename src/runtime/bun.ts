import type { Answer, Call } from '../http/call.ts'
import { descriptorLimit, DescriptorReserve } from './descriptor-reserve.ts'
import type { FetchListenOptions, Listener, ListenOptions, PublicListener } from './listener.ts'
import { Ending, pathnameOfUrl } from './listener.ts'

/** Listens with Bun.serve. */
export async function listen({ host, port, idleMs, answer }: ListenOptions): Promise<PublicListener> {
  let idleS = idleSeconds(idleMs)
  // Bun cannot change a server's idle timeout, so after a change each request sets it for its connection.
  let isOther = false
  const ending = new Ending()
  function reply(request: Request, bun: Bun.Server<undefined>): Response | Promise<Response> {
    if (isOther) bun.timeout(request, idleS)
    const call = new BunCall(request)
    const given = answer(call)
    if (!(given instanceof Promise)) return respond(call, given, ending.held !== null)
    // Bun treats a connection whose answer is pending as idle and would close it.
    bun.timeout(request, 0)
    return given.then((later) => {
      // The timeout belongs to the connection: left at 0, an idle connection would never be closed.
      bun.timeout(request, idleS)
      return respond(call, later, ending.held !== null)
    })
  }
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: idleS,
    // Otherwise Bun shows callers the stack of errors that a handler throws.
    development: false,
    // Otherwise Bun shares the port in production, and a second service would not learn that the port is taken.
    reusePort: false,
    fetch: (request, bun) => (ending.held === null ? reply(request, bun) : ending.held.then(() => reply(request, bun))),
  })
  return {
    ...listenerOf(server, host, ending),
    descriptors: descriptorLimit(),
    keepIdle(ms) {
      isOther ||= idleSeconds(ms) !== idleS
      idleS = idleSeconds(ms)
      return Math.min(ms, LONGEST_IDLE_MS)
    },
  }
}

/** The interval of Bun's checks for idle connections. */
const TICK_S = 4
/** The longest timeout that Bun accepts, s. */
const LONGEST_IDLE_S = 255
/** The part of it that is guaranteed, ms. */
const LONGEST_IDLE_MS = 252_000

/**
 * Returns the timeout for Bun that keeps every connection open for at least `idleMs`. Bun rounds up to ticks and counts
 * the first, partial tick as a whole one.
 */
function idleSeconds(idleMs: number): number {
  return Math.min(LONGEST_IDLE_S, (Math.ceil(idleMs / 1000 / TICK_S) + 1) * TICK_S)
}

/** `accept` may wait 10 s for another instance, and Bun's default is 10 s. */
const SLOWEST_S = 30

/** Listens with Bun.serve for a web-standard handler. */
export async function listenFetch({ host, port, fetch }: FetchListenOptions): Promise<Listener> {
  return listenerOf(
    Bun.serve({ hostname: host, port, fetch, idleTimeout: SLOWEST_S, development: false, reusePort: false }),
    host,
    new Ending(),
  )
}

/** The number of descriptors in reserve, unless that is more than an eighth of all. */
const RESERVE = 32

/** Opens a reserve of descriptors for the service's own needs, because Bun has no limit on accepted connections. */
export function openReserve(): DescriptorReserve {
  return new DescriptorReserve(Math.min(RESERVE, Math.floor(descriptorLimit() / 8)))
}

function listenerOf(server: Bun.Server<undefined>, host: string, ending: Ending): Listener {
  return {
    host,
    port: server.port ?? 0,
    stop(drainMs) {
      return ending.run(
        drainMs,
        () => server.stop(false),
        () => void server.stop(true),
      )
    },
  }
}

class BunCall implements Call {
  readonly method: string
  readonly target: string
  readonly #request: Request

  constructor(request: Request) {
    this.method = request.method
    this.target = request.url
    this.#request = request
  }

  get pathname(): string {
    return pathnameOfUrl(this.target)
  }

  header(name: string): string | null {
    return this.#request.headers.get(name)
  }

  onHangUp(leave: () => void): () => void {
    const { signal } = this.#request
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    return () => signal.removeEventListener('abort', leave)
  }
}

function respond(call: Call, { status, fields, etag, body }: Answer, isLast: boolean): Response {
  // A Response copies the headers, so the same object is reused.
  const headers = fields.native instanceof Headers ? fields.native : (fields.native = new Headers(fields.values))
  if (etag !== '') headers.set('ETag', etag)
  if (call.method === 'HEAD' || isLast) return respondAside(call, status, new Headers(headers), body, isLast)
  return new Response(body, { status, headers })
}

function respondAside(call: Call, status: number, headers: Headers, body: Answer['body'], isLast: boolean): Response {
  // The client must not pipeline further requests on this connection (RFC 9112 §9.6).
  if (isLast) headers.set('Connection', 'close')
  if (call.method !== 'HEAD') return new Response(body, { status, headers })
  // Bun 1.4.5 dates every response except those to HEAD, which must have the fields of GET (RFC 9110 §6.6.1, §9.3.2).
  headers.set('Date', new Date().toUTCString())
  if (body !== null) headers.set('Content-Length', String(body.length))
  return new Response(null, { status, headers })
}
