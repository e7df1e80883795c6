import type { Answer, Call } from '../http/call.ts'
import { descriptorLimit, DescriptorReserve } from './descriptor-reserve.ts'
import type { FetchListenOptions, Listener, ListenOptions, PublicListener } from './listener.ts'
import { Ending, pathnameOfUrl } from './listener.ts'

/** Listens with Bun.serve. */
export async function listen({ host, port, idleMs, answer }: ListenOptions): Promise<PublicListener> {
  let idleS = idleSeconds(idleMs)
  // A server cannot be told another: then each request says it for its connection.
  let isOther = false
  const ending = new Ending()
  function reply(request: Request, bun: Bun.Server<undefined>): Response | Promise<Response> {
    if (isOther) bun.timeout(request, idleS)
    const call = new BunCall(request)
    const given = answer(call)
    // Made at once, while the body is what it is: a Response copies it.
    if (!(given instanceof Promise)) return respond(call, given, ending.held !== null)
    // To Bun a connection whose answer is awaited is idle: without this it would be closed without one.
    bun.timeout(request, 0)
    return given.then((later) => {
      // It holds for the connection: left at 0, an idle one would never be closed.
      bun.timeout(request, idleS)
      return respond(call, later, ending.held !== null)
    })
  }
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: idleS,
    // Outside of production Bun would show a caller the stack of what a handler throws.
    development: false,
    // What is in production shares its port unless it says not to: a second service must be told that it is taken.
    reusePort: false,
    fetch: (request, bun) => (ending.held === null ? reply(request, bun) : ending.held.then(() => reply(request, bun))),
  })
  return {
    ...listenerOf(server, host, ending),
    keepIdle(ms) {
      isOther ||= idleSeconds(ms) !== idleS
      idleS = idleSeconds(ms)
      return Math.min(ms, LONGEST_IDLE_MS)
    },
  }
}

/** Bun looks for idle connections at ticks of its own, so many seconds apart. */
const TICK_S = 4
/** Bun takes no more, */
const LONGEST_IDLE_S = 255
/** of which this much is sure. */
const LONGEST_IDLE_MS = 252_000

/** What Bun has to be told for no connection to be closed that has not been idle for so long: it rounds to ticks, and the first one counts whole. */
function idleSeconds(idleMs: number): number {
  return Math.min(LONGEST_IDLE_S, (Math.ceil(idleMs / 1000 / TICK_S) + 1) * TICK_S)
}

/** `accept` may wait 10 s for another instance, as long as Bun waits for an answer where it is not told otherwise. */
const SLOWEST_S = 30

/** Listens with Bun.serve for a web-standard handler. */
export async function listenFetch({ host, port, fetch }: FetchListenOptions): Promise<Listener> {
  return listenerOf(
    Bun.serve({ hostname: host, port, fetch, idleTimeout: SLOWEST_S, development: false, reusePort: false }),
    host,
    new Ending(),
  )
}

/** So many descriptors are held in reserve, but no more than an eighth of all. */
const RESERVE = 32

/** Bun cannot be told how many connections to accept: what the service needs itself is put aside. */
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
}

function respond(call: Call, { status, fields, etag, body }: Answer, isLast: boolean): Response {
  // A Response copies them: the same can be used again and again.
  const headers = fields.native instanceof Headers ? fields.native : (fields.native = new Headers(fields.values))
  if (etag !== '') headers.set('ETag', etag)
  if (call.method === 'HEAD' || isLast) return respondAside(call, status, new Headers(headers), body, isLast)
  return new Response(body, { status, headers })
}

function respondAside(call: Call, status: number, headers: Headers, body: Answer['body'], isLast: boolean): Response {
  // RFC 9112 §9.6: who is told sends nothing more that would be lost.
  if (isLast) headers.set('Connection', 'close')
  if (call.method !== 'HEAD') return new Response(body, { status, headers })
  // Bun 1.4.5 dates every response but those to HEAD, which must have what GET has (RFC 9110 §6.6.1, §9.3.2).
  headers.set('Date', new Date().toUTCString())
  if (body !== null) headers.set('Content-Length', String(body.length))
  return new Response(null, { status, headers })
}
