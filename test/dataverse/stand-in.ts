import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Reply } from './reply.ts'
import { refusal } from './reply.ts'
import { StandInDirectory } from './stand-in-directory.ts'
import { answerMetadata } from './stand-in-metadata.ts'
import { StandInQuery } from './stand-in-query.ts'
import type { StandInTable, Versions } from './stand-in-table.ts'

/** A request that came, and what it got. */
export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly status: number
  readonly atMs: number
}

/** What is to happen to a request instead of its answer. */
export type Fault =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'drop' }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Begins the answer and goes on for ever. */
  | { readonly kind: 'endless' }
  /** Ends the connection in the middle of the answer. */
  | { readonly kind: 'cut' }
  /** Ends the answer early, as if it were whole. */
  | { readonly kind: 'truncated' }

export interface Trap {
  /** How often it still strikes. */
  times: number
  readonly isFor: (path: string) => boolean
  readonly fault: Fault
}

export interface StandInOptions {
  readonly tables: readonly StandInTable[]
  readonly versions: Versions
  readonly tls?: { readonly key: string; readonly cert: string }
  /** What callers know it by, where that is not its own address. */
  readonly publicOrigin?: string
}

/** A Dataverse environment and its directory in one server, strict where Dataverse is. */
export class StandIn {
  readonly directory: StandInDirectory = new StandInDirectory()
  readonly query: StandInQuery
  readonly asked: Asked[] = []
  readonly traps: Trap[] = []
  origin = ''
  /** Is told of each request before it is answered. */
  onAsked: (path: string) => void = () => {}
  mostAtOnce = 0
  /** Milliseconds that every answer takes. */
  latencyMs = 0
  readonly #options: StandInOptions
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #atOnce = 0

  constructor(options: StandInOptions) {
    this.#options = options
    this.query = new StandInQuery(options.versions)
    const listener = (request: IncomingMessage, response: ServerResponse): void => void this.#take(request, response)
    this.#server = options.tls === undefined ? createServer(listener) : createSecureServer(options.tls, listener)
    this.#server.keepAliveTimeout = 60_000
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const own = `${this.#options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`
    this.origin = this.#options.publicOrigin ?? own
    this.query.origin = this.origin
    this.directory.origin = this.origin
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The next requests to a path of which `part` is a part meet a fault. */
  trap(part: string | RegExp, fault: Fault, times = 1): Trap {
    const isFor = (path: string): boolean => (typeof part === 'string' ? path.includes(part) : part.test(path))
    const trap = { times, isFor, fault }
    this.traps.push(trap)
    return trap
  }

  /** Requests for data, without those for tokens. */
  get reads(): readonly Asked[] {
    return this.asked.filter(({ path }) => path.startsWith('/api/'))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    this.mostAtOnce = Math.max(this.mostAtOnce, path.startsWith('/api/') ? ++this.#atOnce : 0)
    let body = ''
    for await (const chunk of request) body += String(chunk)
    if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs))
    this.onAsked(path)
    const trap = this.traps.find(({ times, isFor }) => times > 0 && isFor(path))
    if (trap !== undefined) trap.times--
    const reply = trap?.fault.kind === 'reply' ? trap.fault.reply : this.#answer(request, path, body)
    if (path.startsWith('/api/')) this.#atOnce--
    this.asked.push({ path, headers: request.headers, status: reply.status, atMs: performance.now() })
    send(response, reply, trap?.fault.kind ?? 'reply')
  }

  #answer(request: IncomingMessage, path: string, body: string): Reply {
    if (request.method === 'POST') {
      if (request.headers.authorization !== undefined) return refusal(400, '', 'the token does not belong here')
      return this.directory.answer(path, body)
    }
    if (request.method !== 'GET') return refusal(405, '', 'The method is not allowed')
    const { authorization = '', accept, prefer = '' } = request.headers
    if (!this.directory.isValid(authorization)) {
      const challenge = `Bearer authorization_uri=${this.origin}/common/oauth2/authorize, resource_id=${this.origin}/`
      return { status: 401, headers: { 'www-authenticate': challenge }, body: '' }
    }
    const strict = { 'odata-version': '4.0', 'odata-maxversion': '4.0', 'if-none-match': 'null' }
    for (const [name, value] of Object.entries(strict)) {
      if (request.headers[name] !== value) return refusal(400, '', `the header ${name} must be ${value}`)
    }
    if (accept !== 'application/json') return refusal(406, '', 'the header accept must be application/json')
    if (!path.startsWith('/api/data/v9.2/')) return refusal(404, '', 'Not found')
    if (path.startsWith('/api/data/v9.2/EntityDefinitions')) return answerMetadata(this.#options.tables, path)
    const set = /^\/api\/data\/v9\.2\/(\w+)/.exec(path)?.[1] ?? ''
    const table = this.#options.tables.find(({ entitySet }) => entitySet === set)
    if (table === undefined) return refusal(404, '0x8006088a', `Resource not found for the segment '${set}'.`)
    return this.query.answer(table, path, String(prefer))
  }
}

function send(response: ServerResponse, { status, headers, body }: Reply, how: Fault['kind']): void {
  switch (how) {
    case 'reply':
      response.writeHead(status, headers).end(body)
      return
    case 'drop':
      response.socket?.destroy()
      return
    case 'hang':
      return
    case 'endless': {
      response.writeHead(status, headers)
      const timer = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(timer))
      return
    }
    case 'cut':
      response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
      response.write(body.slice(0, body.length / 2), () => setTimeout(() => response.socket?.destroy(), 5))
      return
    case 'truncated':
      response.writeHead(status, headers).end(body.slice(0, body.length / 2))
      return
  }
}
