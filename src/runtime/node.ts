import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import type { Answer, Call, HeaderFields } from '../http/call.ts'
import {
  type FetchListenOptions,
  type Listener,
  type ListenOptions,
  type PublicListener,
  Ending,
  pathnameOfUrl,
} from './listener.ts'
import { descriptorLimit } from './descriptor-reserve.ts'
import { type Socket, Server as NetServer } from 'node:net'

// After the first load of a list, V8 would allocate the rows of every later read in the old generation, until a full
// collection: small ones took 10 ms instead of 1 ms, and a read took a tenth longer.
setFlagsFromString('--no-allocation-site-pretenuring')

// `getBuiltinModule`, not an import: an import evaluates every export, and for `WebSocket` Node loads all of fetch,
// which takes 10 ms.
const { createServer } = process.getBuiltinModule('node:http')

/** Listens with node:http directly: building a Request and a Response costs more than the answer. */
export async function listen({ host, port, idleMs, answer }: ListenOptions): Promise<PublicListener> {
  const ending = new Ending()
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    connections.heard(request)
    const refused = refusedLikeBun(request)
    if (refused !== 0) return void response.writeHead(refused, { Connection: 'close' }).end()
    // An earlier response on this connection is still being sent.
    if (response.socket === null && connections.addPending(request, response) > MOST_PIPELINED) {
      // Close the connection of a client that sends without reading: its queue would grow with everything it sends.
      request.socket.destroy()
    } else if (ending.held === null) reply(request, response)
    else {
      connections.addPending(request, response)
      void ending.held.then(() => reply(request, response))
    }
  }
  const server = createServer(PATIENCE, take)
  // Unknown expectations are ignored (contract §1.2 has no 417).
  server.on('checkExpectation', take)
  const most = mostConnections()
  server.maxConnections = most + REPLACED
  const connections = new Connections(server)
  connections.limit(most, { replacesIdle: false })
  // Without a timeout, node:http would wait for ever for a client that neither reads nor sends.
  const keepIdle = (ms: number): number => (server.timeout = server.keepAliveTimeout = ms)
  keepIdle(idleMs)
  function reply(request: IncomingMessage, response: ServerResponse): void {
    const call = new NodeCall(request)
    const given = answer(call)
    if (given instanceof Promise) void sendLater(given, call, request, response)
    else send(call, request, response, given)
  }
  async function sendLater(
    given: Promise<Answer>,
    call: Call,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { socket } = request
    connections.addPending(request, response)
    // A connection with a pending answer is not idle.
    socket.setTimeout(0)
    const later = await given
    socket.setTimeout(server.timeout)
    send(call, request, response, later)
  }
  function send(call: Call, request: IncomingMessage, response: ServerResponse, given: Answer): void {
    // Only on the newest response, so requests sent earlier on the connection are still answered (RFC 9112 §9.6).
    if (ending.held !== null && connections.isNewest(request, response)) response.shouldKeepAlive = false
    respond(call, response, given)
  }
  return { ...(await listenerOf(server, connections, host, port, ending)), descriptors: descriptorLimit(), keepIdle }
}

/**
 * The values of Bun, which cannot be changed there. The defaults of node:http are 60 s, 300 s and a check every 30 s.
 */
const PATIENCE = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2000 }

/** The most header lines in a request: Bun's limit. */
const MOST_HEADERS = 198

/**
 * Returns the status for a request that node:http accepts and Bun's parser refuses; 0 for any other. Like Bun's, the
 * refusal has no problem body.
 */
function refusedLikeBun({ url = '', rawHeaders, httpVersionMajor }: IncomingMessage): number {
  if (rawHeaders.length > 2 * MOST_HEADERS) return 431
  return httpVersionMajor === 1 && (url.charCodeAt(0) === SLASH || /^https?:\/\//i.test(url)) ? 0 : 400
}

const SLASH = 47

/**
 * The queue of connections not accepted yet. With a shorter queue, some of a burst of connections wait for more than a
 * second.
 */
const BACKLOG = 4096

/** The limit of pending requests on one connection. */
const MOST_PIPELINED = 64

/**
 * The number of descriptors that are kept for reading the CRM and for the operations listener, so that callers cannot
 * use them up. At most half of all descriptors.
 */
const KEPT = 128
/** How many of the `KEPT` descriptors open connections of the operations listener may use. */
const MOST_OPERATIONS = 64
/** How many connections node:http may accept beyond such a limit, each to replace another one or to be closed. */
const REPLACED = 16
/** How long a connection of the operations listener may be idle. `accept` may wait 10 s for another instance. */
const OPERATIONS_IDLE_MS = 30_000

/** Returns the most connections of the public listener. */
function mostConnections(): number {
  const limit = descriptorLimit()
  return limit - Math.min(KEPT, Math.floor(limit / 2))
}

/** `null`: node:http limits its connections, so descriptors are always left. */
export function openReserve(): null {
  return null
}

/** Listens with node:http for a web-standard handler. */
export async function listenFetch({ host, port, fetch }: FetchListenOptions): Promise<Listener> {
  // Imported only here: it loads HTTP/2, which the public listener does not need.
  const { getRequestListener } = await import('@hono/node-server')
  // The adapter would otherwise replace the global Response.
  const handle = getRequestListener(fetch, { overrideGlobalObjects: false })
  const server = createServer(PATIENCE, (request, response) => {
    connections.heard(request)
    connections.addPending(request, response)
    void handle(request, response)
  })
  server.maxConnections = MOST_OPERATIONS + REPLACED
  server.timeout = OPERATIONS_IDLE_MS
  const connections = new Connections(server)
  connections.limit(MOST_OPERATIONS, { replacesIdle: true })
  return listenerOf(server, connections, host, port, new Ending())
}

async function listenerOf(
  server: Server,
  connections: Connections,
  host: string,
  port: number,
  ending: Ending,
): Promise<Listener> {
  server.listen({ port, host, backlog: BACKLOG })
  await once(server, 'listening')
  const address = server.address()
  return {
    host,
    port: typeof address === 'object' && address !== null ? address.port : port,
    stop(drainMs) {
      return ending.run(
        drainMs,
        () => connections.end(),
        () => server.closeAllConnections(),
      )
    },
  }
}

class NodeCall implements Call {
  readonly method: string
  readonly target: string
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.#request = request
  }

  get pathname(): string {
    return pathnameOfUrl(this.target)
  }

  header(name: string): string | null {
    const value = this.#request.headers[name]
    return typeof value === 'string' ? value : null
  }

  onHangUp(leave: () => void): () => void {
    const { socket } = this.#request
    // Each pipelined request may have one.
    socket.setMaxListeners(2 * MOST_PIPELINED)
    socket.on('close', leave)
    if (socket.destroyed) leave()
    return () => socket.off('close', leave)
  }
}

/** Collects header fields as one flat list of names and values, which node:http writes fastest. */
class FlatFields {
  readonly list: readonly string[]

  constructor(fields: HeaderFields) {
    this.list = Object.entries(fields.values).flat()
  }
}

function respond(call: Call, response: ServerResponse, { status, fields, etag, body }: Answer): void {
  const { list } = fields.native instanceof FlatFields ? fields.native : (fields.native = new FlatFields(fields))
  const all = etag === '' ? [...list] : [...list, 'ETag', etag]
  if (body !== null) all.push('Content-Length', String(body.length))
  response.writeHead(status, all)
  if (call.method === 'HEAD' || body === null) response.end()
  else response.end(byteText(body), 'latin1')
}

/**
 * Returns the bytes as a string with one character per byte. node:http sends a string in the same write as the head,
 * and bytes in a second one, which costs more.
 */
function byteText(body: NonNullable<Answer['body']>): string {
  if (typeof body === 'string') return body
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
}

const LOOPBACK = /^(?:::1$|(?:::ffff:)?127\.)/

function isLoopback({ remoteAddress = '' }: Socket): boolean {
  return LOOPBACK.test(remoteAddress)
}

/** The interval of checks for idle connections while the server ends. */
const LOOK_MS = 25

/**
 * The connections of a node:http server, with their unanswered requests. The server's own `close` would destroy
 * connections whose answers are still queued, or not yet read by the caller.
 */
class Connections {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** The open connections without a complete request so far, oldest first. */
  readonly #silent = new Set<Socket>()
  /** The pending responses of each connection: not answered yet, or waiting behind an earlier response. */
  readonly #pending = new WeakMap<Socket, Set<ServerResponse>>()
  /** The newest pending response of each connection. */
  readonly #newest = new WeakMap<Socket, ServerResponse>()
  /** `bytesRead` of each connection at the last check. */
  readonly #seen = new WeakMap<Socket, number>()

  constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      this.#silent.add(socket)
      socket.once('close', () => this.#forget(socket))
    })
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket)
    this.#silent.delete(socket)
  }

  /** Records that a request has arrived: no new connection replaces this one. */
  heard({ socket }: IncomingMessage): void {
    this.#silent.delete(socket)
  }

  /** Records a pending response. Returns the number of pending responses on its connection. */
  addPending({ socket }: IncomingMessage, response: ServerResponse): number {
    const pending = this.#pending.get(socket) ?? new Set()
    this.#pending.set(socket, pending)
    if (!pending.has(response)) response.once('close', () => pending.delete(response))
    pending.add(response)
    this.#newest.set(socket, response)
    return pending.size
  }

  /** Returns true if no later request of the same connection is pending. */
  isNewest({ socket }: IncomingMessage, response: ServerResponse): boolean {
    return (this.#newest.get(socket) ?? response) === response
  }

  /**
   * Limits the number of open connections. A new connection replaces the oldest one that has sent no request, but not
   * one of this machine unless it comes from there too. Otherwise it is closed.
   *
   * @param replacesIdle whether a new connection of this machine may also replace the oldest idle one, which keeps
   *   probes working
   */
  limit(most: number, { replacesIdle }: { readonly replacesIdle: boolean }): void {
    this.#server.on('connection', (socket: Socket) => {
      if (this.#open.size <= most) return
      this.#silent.delete(socket)
      const isLocal = isLoopback(socket)
      const replaced =
        this.#silent.values().find((silent) => isLocal || !isLoopback(silent)) ??
        (isLocal && replacesIdle ? this.#oldestIdle() : undefined)
      if (replaced !== undefined) this.#silent.add(socket)
      const closed = replaced ?? socket
      this.#forget(closed)
      closed.destroy()
    })
  }

  #oldestIdle(): Socket | undefined {
    return this.#open.values().find((socket) => (this.#pending.get(socket)?.size ?? 0) === 0)
  }

  /** Stops listening. Resolves when all connections are closed, each as soon as it has no pending response. */
  async end(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    NetServer.prototype.close.call(this.#server, () => resolve())
    const timer = setInterval(() => this.#endIdle(), LOOK_MS)
    await promise
    clearInterval(timer)
  }

  #endIdle(): void {
    for (const socket of this.#open) {
      if ((this.#pending.get(socket)?.size ?? 0) > 0 || socket.writableLength > 0) continue
      // A request may be arriving in parts.
      if (this.#seen.get(socket) === socket.bytesRead) socket.destroySoon()
      else this.#seen.set(socket, socket.bytesRead)
    }
  }
}
