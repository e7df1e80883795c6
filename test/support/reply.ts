import type { Buffer } from 'node:buffer'

/** A response as received. */
export interface Reply {
  readonly status: number
  /** The status line and header lines, as received. */
  readonly head: string
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Buffer
  /** The bytes decoded as UTF-8. */
  readonly body: string
}

/** Parses one complete response. Throws if it is malformed or a header occurs twice. */
export function parseReply(bytes: Buffer): Reply {
  const end = bytes.indexOf('\r\n\r\n')
  const head = bytes.subarray(0, end === -1 ? 0 : end).toString('latin1')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  if (!Number.isInteger(status)) throw new Error(`no response: ${JSON.stringify(bytes.toString('latin1'))}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (headers.has(name)) throw new Error(`${name} comes twice:\n${head}`)
    headers.set(name, line.slice(colon + 1).trim())
  }
  const content = bytes.subarray(end + 4)
  return { status, head, headers, bytes: content, body: content.toString('utf8') }
}

/** Headers of the connection or the moment, which differ between runtimes and requests. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive'])

/** Returns the service's own headers, sorted by name. */
export function ownHeaders({ headers }: Reply): Record<string, string> {
  const own = [...headers].filter(([name]) => !OF_THE_MOMENT.has(name))
  return Object.fromEntries(own.toSorted(([left], [right]) => (left < right ? -1 : 1)))
}
