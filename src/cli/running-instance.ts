// oxlint-disable-next-line no-restricted-imports -- only as a client: fetch takes the proxies of the environment
import { request } from 'node:http'
import type { Configuration } from '../config/configuration.ts'
import { codeOf } from '../domain/system-error.ts'
import { printable } from '../domain/printable.ts'
import { type ConfigurationOptions, readConfiguration } from '../config/read-configuration.ts'
import { type CommandContext, ANSWER_IS_NO, FINE, WRONG_USAGE } from '../app/command-context.ts'

/** The answer of the instance that runs with the same configuration. */
type Reply =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown; readonly address: string }
  /** Nothing listens there; or an instance may run, but cannot be found, or something else or nothing answers. */
  | { readonly kind: 'not-running' | 'unknown'; readonly message: string }

const PATIENCE_MS = 5000
const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024

/**
 * Asks the running instance's operations listener. Uses node:http, because `fetch` would send the token to HTTP_PROXY.
 */
export async function askRunning(
  { operations }: Configuration,
  method: 'GET' | 'POST',
  path: string,
  patienceMs: number = PATIENCE_MS,
): Promise<Reply> {
  if (operations === null) {
    return { kind: 'unknown', message: 'its operations listener is switched off (operations: null)' }
  }
  const { port, token } = operations
  if (port === 0) {
    const message =
      'the operations port is 0, so each start takes another one and prints it; repeat the command with --operations-port and that port'
    return { kind: 'unknown', message }
  }
  const host = dialable(operations.host)
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const address = `http://${authority}`
  const { promise, resolve } = Promise.withResolvers<Reply>()
  const fail = (kind: 'not-running' | 'unknown', why: string): void =>
    resolve({ kind, message: `${why} on ${address} (operations.host, operations.port)` })
  // A zone (`fe80::1%eth0`) means something on this machine alone, and no URL can contain it.
  const headers = {
    Host: authority.replace(/%[^\]]+/, ''),
    ...(token === null ? {} : { Authorization: `Bearer ${token.reveal()}` }),
  }
  const exchange = request({ host, port, path, method, headers, agent: false }, (response) => {
    const chunks: Buffer[] = []
    let length = 0
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (length > LARGEST_ANSWER_BYTES) response.destroy(new Error('too large'))
    })
    response.on('end', () => {
      const body = parse(Buffer.concat(chunks).toString())
      resolve({ kind: 'answered', status: response.statusCode ?? 0, body, address })
    })
    response.on('error', () => fail('unknown', 'the response ended early'))
  })
  exchange.on('upgrade', ({ statusCode = 0 }) => resolve({ kind: 'answered', status: statusCode, body: null, address }))
  exchange.on('error', (cause) => {
    if (UNREACHABLE.has(codeOf(cause) ?? '')) fail('not-running', 'nothing answers')
    else fail('unknown', 'the connection was lost')
  })
  // A timer of our own, because a server may switch protocols or send only interim responses.
  const timer = setTimeout(() => fail('unknown', `no response within ${patienceMs / 1000} s`), patienceMs)
  exchange.end()
  const reply = await promise
  clearTimeout(timer)
  exchange.destroy()
  return reply
}

/** The error codes that mean nothing listens, including Bun's own. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

export function whyRefused({ status, address }: { readonly status: number; readonly address: string }): string {
  if (status === 401) return `${address} refused the token: operations.token must be what the instance was started with`
  if (status === 403)
    return `${address} refused to answer: it was started without operations.token, and answers only requests with a loopback Host`
  if (status === 503) return `${address} is busy with other searches: try again`
  return `${address} answered ${status}: that is not the operations listener of this Marquee (operations.port)`
}

/** Returns the address to connect to for a listening address. */
function dialable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Asks the running instance whether it is ready. Probes use this in images without a shell. */
export async function ready(options: ConfigurationOptions, context: CommandContext): Promise<number> {
  return probe('ready', options, context)
}

/** Asks the running instance whether it answers at all: it does not if it hangs. */
export async function live(options: ConfigurationOptions, context: CommandContext): Promise<number> {
  return probe('live', options, context)
}

async function probe(what: 'ready' | 'live', options: ConfigurationOptions, context: CommandContext): Promise<number> {
  const read = await readConfiguration(options, context)
  if (read === null) return WRONG_USAGE
  const reply = await askRunning(read.configuration, 'GET', `/${what}`)
  if (reply.kind === 'answered' && reply.status === 200) {
    context.out(what)
    return FINE
  }
  const why = whyNot(reply, (at) => `it runs and answers 502 for now, or is about to stop: ${at}/status says which`)
  context.error(`not ${what}: ${why}`)
  return ANSWER_IS_NO
}

function whyNot(reply: Reply, on503: (address: string) => string): string {
  if (reply.kind !== 'answered') return reply.message
  return reply.status === 503 ? on503(reply.address) : whyRefused(reply)
}

/** How long to wait for the answer: the instance may have to ask the leader. */
const ACCEPT_MS = 15_000

export async function accept(options: ConfigurationOptions, context: CommandContext): Promise<number> {
  const read = await readConfiguration(options, context)
  if (read === null) return WRONG_USAGE
  const reply = await askRunning(read.configuration, 'POST', '/accept', ACCEPT_MS)
  const lists = reply.kind === 'answered' && reply.status === 200 ? acceptedLists(reply.body) : null
  if (lists === null) {
    const later = 'a leader that comes back may still accept the list'
    const why = whyNot(
      reply,
      (at) => `no leader answered within 10 s; ${later}; ${at}/status says which instance reads the CRM, if any does`,
    )
    context.error(`nothing was accepted: ${why}`)
    return ANSWER_IS_NO
  }
  const isAlone = read.configuration.cluster === null
  const others = isAlone ? ' by this instance; if others run without a cluster, run it on each' : ''
  context.out(
    lists.length === 0
      ? 'no list was held back, so there was nothing to accept'
      : printable(`accepted: the shorter list of ${lists.join(' and ')} is read now${others}`),
  )
  return FINE
}

/** Parses the names of the accepted lists; `null` if the answer has another form. */
function acceptedLists(body: unknown): readonly string[] | null {
  const accepted: unknown = typeof body === 'object' && body !== null && 'accepted' in body ? body.accepted : null
  return Array.isArray(accepted) && accepted.every((list) => typeof list === 'string') ? accepted : null
}
