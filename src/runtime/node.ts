import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import type { Answer, Call, Fields } from '../http/call.ts'
import type { FetchListenOptions, Listener, ListenOptions, PublicListener } from './listener.ts'
import { descriptorLimit } from './descriptor-reserve.ts'
import { Connections } from './node-connections.ts'
import { Ending, pathnameOfUrl } from './listener.ts'

// From the first load of a list V8 would learn that its rows live long, and keep those of every later read until a full
// collection: each small one took 10 ms instead of 1, and a read a tenth longer.
setFlagsFromString('--no-allocation-site-pretenuring')

// Imported like any other, each of its exports is read once, `WebSocket` too, for which Node loads all of fetch: 10 ms.
const { createServer } = process.getBuiltinModule('node:http')

/** Listens with node:http, without a Request or a Response: building them costs more than the answer. */
export async function listen({ host, port, idleMs, answer }: ListenOptions): Promise<PublicListener> {
  const ending = new Ending()
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const refused = refusedLikeBun(request)
    if (refused !== 0) return void response.writeHead(refused, { Connection: 'close' }).end()
    // Not yet this one's turn: the one before it on the connection is not out.
    if (response.socket === null && connections.owe(request, response) > MOST_PIPELINED) {
      // Who sends on without reading is hung up on: what is queued would grow with all it sends.
      request.socket.destroy()
    } else if (ending.held === null) reply(request, response)
    else {
      connections.owe(request, response)
      void ending.held.then(() => reply(request, response))
    }
  }
  const server = createServer(PATIENCE, take)
  // An expectation that nobody knows changes nothing (contract §1.2 has no 417).
  server.on('checkExpectation', take)
  server.maxConnections = mostConnections()
  const connections = new Connections(server)
  // Who reads nothing, or sends nothing, for so long is let go; node:http alone would wait for ever.
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
    connections.owe(request, response)
    // A connection whose answer is awaited is not idle.
    socket.setTimeout(0)
    const later = await given
    socket.setTimeout(server.timeout)
    send(call, request, response, later)
  }
  function send(call: Call, request: IncomingMessage, response: ServerResponse, given: Answer): void {
    // RFC 9112 §9.6: who is told sends nothing more that would be lost, and what was sent before is answered first.
    if (ending.held !== null && connections.isNewest(request, response)) response.shouldKeepAlive = false
    respond(call, response, given)
  }
  return { ...(await listenerOf(server, connections, host, port, ending)), keepIdle }
}

/** As long as Bun's, which cannot be set; node:http would wait for 60 s and 300 s, and look only every 30 s. */
const PATIENCE = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2000 }

/** Bun takes no more lines of headers. */
const MOST_HEADERS = 198

/** What node:http lets pass and Bun's parser refuses is refused alike, without a problem body: its status, 0 for all else. */
function refusedLikeBun({ url = '', rawHeaders, httpVersionMajor }: IncomingMessage): number {
  if (rawHeaders.length > 2 * MOST_HEADERS) return 431
  return httpVersionMajor === 1 && (url.charCodeAt(0) === SLASH || /^https?:\/\//i.test(url)) ? 0 : 400
}

const SLASH = 47

/** Connections that wait to be accepted: past it a crowd that comes at once waits a second and more to be let in. */
const BACKLOG = 4096

/** More requests of one connection than this do not wait for their turn. */
const MOST_PIPELINED = 64

/** Descriptors that no caller may take, but no more than half of all: what reads the CRM needs, and the operations listener. */
const KEPT = 128
/** Of those, what the operations listener may take, and those that are replaced meanwhile. */
const MOST_OPERATIONS = 64
const REPLACED = 16
/** How long a connection of the operations listener may stand still; `accept` may wait 10 s for another instance. */
const OPERATIONS_IDLE_MS = 30_000

/** One connection more is accepted only to be closed. */
function mostConnections(): number {
  const limit = descriptorLimit()
  return limit - Math.min(KEPT, Math.floor(limit / 2))
}

/** None is needed: there are never so many connections that no descriptor is left. */
export function openReserve(): null {
  return null
}

/** Listens with node:http for a web-standard handler. */
export async function listenFetch({ host, port, fetch }: FetchListenOptions): Promise<Listener> {
  // Only here: it brings HTTP/2, and the public's listener needs neither.
  const { getRequestListener } = await import('@hono/node-server')
  // The adapter's own Response would replace the global one for everybody.
  const handle = getRequestListener(fetch, { overrideGlobalObjects: false })
  const server = createServer(PATIENCE, (request, response) => {
    connections.owe(request, response)
    void handle(request, response)
  })
  server.maxConnections = MOST_OPERATIONS + REPLACED
  server.timeout = OPERATIONS_IDLE_MS
  const connections = new Connections(server)
  connections.limit(MOST_OPERATIONS)
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

/** Header fields as the flat list that node:http writes fastest. */
class FlatFields {
  readonly list: readonly string[]

  constructor(fields: Fields) {
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

/** A character a byte: node:http puts a text and the head into one write, and bytes into a second, which costs more. */
function byteText(body: NonNullable<Answer['body']>): string {
  if (typeof body === 'string') return body
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
}
