import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import type { Answer, Call, HeaderFields } from '../http/call.ts'
import type { FetchListenOptions, Listener, ListenOptions, PublicListener } from './listener.ts'
import { descriptorLimit } from './descriptor-reserve.ts'
import { Connections } from './node-connections.ts'
import { Ending, pathnameOfUrl } from './listener.ts'

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
