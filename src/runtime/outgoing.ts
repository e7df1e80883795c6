import { Buffer } from 'node:buffer'
import { type ClientRequest, type IncomingMessage, Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { getCACertificates } from 'node:tls'
import { createGunzip } from 'node:zlib'
import { isGzipped } from '../crm/web/http-client.ts'
import type { HttpClient, HttpReply, HttpRequest, HttpClientOptions } from '../crm/web/http-client.ts'
import type { KeptDescriptors } from './listener.ts'

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

interface Versions {
  readonly node: string
  readonly bun?: string
}

/** Returns true if agents take a proxy. Node before 24.5 ignores `proxyEnv` without an error, and connects directly. */
export function takesProxies({ node, bun }: Versions): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return bun !== undefined || major > 24 || (major === 24 && minor >= 5)
}

/**
 * Opens an HTTP client that works the same on Bun and Node. It uses node:http because `fetch` would re-encode an
 * apostrophe in a path, and because its agents support a proxy and certificates on both runtimes.
 *
 * @param reserve Provides descriptors for connections if all others are in use; `null` if that cannot happen
 * @param versions The runtime's own versions
 */
export function openHttpClient(
  { ca, proxyOf }: HttpClientOptions,
  reserve: KeptDescriptors | null = null,
  versions: Versions = process.versions,
): HttpClient {
  // The option replaces the default certificates instead of adding to them.
  const trusted = ca.length === 0 ? {} : { ca: [...getCACertificates('default'), ...ca] }
  const pools = new Map<string | null, Agents>()

  function agentsOf(proxy: string | null, keepAlive: boolean): Agents {
    const settings = {
      keepAlive,
      ...(proxy === null ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
      ...(reserve === null ? {} : { lookup: reserve.lookup }),
    }
    const [http, https] = [new HttpAgent(settings), new HttpsAgent({ ...settings, ...trusted })]
    return reserve === null ? { http, https } : { http: sparing(http, reserve), https: sparing(https, reserve) }
  }

  function poolOf(proxy: string | null): Agents {
    const pool = pools.get(proxy) ?? agentsOf(proxy, true)
    pools.set(proxy, pool)
    return pool
  }

  return {
    send(request) {
      const url = new URL(request.url)
      const proxy = proxyOf(url)
      if (proxy !== null && !takesProxies(versions)) return Promise.reject(codedError('ERR_PROXY_UNKNOWN'))
      const agents = request.fresh ? agentsOf(proxy, false) : poolOf(proxy)
      return exchange(request, url, agents)
    },
    close() {
      for (const { http, https } of pools.values()) {
        http.destroy()
        https.destroy()
      }
    },
  }
}

/** Makes an agent take the descriptors of its connections from the reserve if no other is free. */
function sparing<Kind extends HttpAgent>(agent: Kind, reserve: KeptDescriptors): Kind {
  const create = agent.createConnection.bind(agent)
  const createConnection: typeof create = (options, then) =>
    reserve.connect(options.host ?? '', () => create(options, then))
  return Object.assign(agent, { createConnection })
}

function exchange(request: HttpRequest, url: URL, agents: Agents): Promise<HttpReply> {
  const { method, body, signal } = request
  const { promise, resolve, reject } = Promise.withResolvers<HttpReply>()
  const headers: Record<string, string> = { ...request.headers, 'accept-encoding': 'gzip' }
  if (body !== null) headers['content-length'] = String(Buffer.byteLength(body))
  const options = {
    method,
    headers,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? undefined : Number(url.port),
    path: pathOf(request.url),
    signal,
  }
  const sent: ClientRequest =
    url.protocol === 'https:'
      ? requestHttps({ ...options, agent: agents.https })
      : requestHttp({ ...options, agent: agents.http })
  const fail = (code: string): void => reject(codedError(code))
  let hasResponse = false
  sent.on('error', reject)
  // Without a listener, a response that switches protocols (101) ends the exchange with neither an answer nor an error.
  sent.on('upgrade', (_, socket) => {
    socket.destroy()
    fail('HPE_UPGRADE')
  })
  sent.on('close', () => {
    if (!hasResponse) fail('ECONNRESET')
  })
  sent.on('response', (response) => {
    hasResponse = true
    readBody(response, request.mostBytes, method === 'HEAD').then(
      (bytes) => resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: bytes }),
      (cause: unknown) => {
        sent.destroy()
        reject(cause instanceof Error ? cause : new Error('the answer could not be read', { cause }))
      },
    )
  })
  sent.end(body ?? undefined)
  return promise
}

/** Returns the path and query as written. `URL` might encode them differently. */
function pathOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3)
  return from === -1 ? '/' : (url.slice(from).split('#', 1)[0] ?? '/')
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  // Only `Set-Cookie` is a list, which nobody here reads.
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

const FIRST_BYTES = 16 * 1024

/** @param isHead whether the fields describe a body that does not come */
function readBody(response: IncomingMessage, mostBytes: number, isHead: boolean): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const isPacked = !isHead && isGzipped({ headers: headersOf(response) })
  const stream = isPacked ? response.pipe(createGunzip()) : response
  // Copied into one buffer, because many small chunks would each cost extra memory.
  let body = Buffer.allocUnsafe(Math.min(FIRST_BYTES, mostBytes))
  let length = 0
  const fail = (code: string): void => reject(codedError(code))
  if (Number(response.headers['content-length']) > mostBytes) fail('ERR_BODY_TOO_LARGE')
  response.on('error', reject)
  response.on('aborted', () => fail('ECONNRESET'))
  response.on('close', () => {
    if (!response.complete) fail('ECONNRESET')
  })
  stream.on('error', reject)
  stream.on('data', (chunk: Uint8Array) => {
    const end = length + chunk.length
    if (end > mostBytes) {
      fail('ERR_BODY_TOO_LARGE')
      return
    }
    if (end > body.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(end, body.length * 2), mostBytes))
      body.copy(larger, 0, 0, length)
      body = larger
    }
    body.set(chunk, length)
    length = end
  })
  stream.on('end', () => {
    if (response.complete) resolve(body.subarray(0, length))
    else fail('ECONNRESET')
  })
  return promise
}

function codedError(code: string): Error {
  return Object.assign(new Error(code), { code })
}
