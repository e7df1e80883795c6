import { Buffer } from 'node:buffer'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { type Question, endpointOf } from './questions.ts'

export interface AccessLog {
  /** The most frequent first. */
  readonly questions: readonly Question[]
  /** Lines that are requests of this service. */
  readonly requests: number
  /** Lines of other paths or methods, and lines that are no requests at all. */
  readonly others: number
  readonly unreadable: number
  /** Requests with a query or a path parameter (`;…`), which is left out: it may tell who asked. */
  readonly withQuery: number
}

interface LoggedRequest {
  readonly method: string
  readonly target: string
  /** `null` if the log does not tell. */
  readonly accept: string | null
}

const LONGEST_LINE = 16_384

/**
 * Reads the requests of an access log: nginx's or Apache's combined format, or W3C with any fields, packed by gzip or not.
 * Of a line only the method, the path and `Accept` are kept. A request without an `Accept` is asked in each of `types`.
 */
export async function readAccessLog(logPath: string, basePath: string, types: readonly string[]): Promise<AccessLog> {
  const file = await open(logPath)
  const counts = new Map<string, number>()
  const found = { requests: 0, others: 0, unreadable: 0, withQuery: 0 }
  let fields: readonly string[] | null = null
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    const isPacked = bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
    const bytes = file.createReadStream({ start: 0, autoClose: false })
    const input = isPacked ? bytes.pipe(createGunzip()) : bytes
    const failure = Promise.withResolvers<never>()
    for (const stream of [bytes, input]) stream.on('error', failure.reject)
    failure.promise.catch(() => {})
    const lines = createInterface({ input, crlfDelay: Infinity })[Symbol.asyncIterator]()
    for (;;) {
      const next = await Promise.race([lines.next(), failure.promise])
      if (next.done === true) break
      const line = next.value
      if (line.startsWith('#')) fields = /^#Fields:\s*(.*)$/i.exec(line)?.[1]?.trim().split(/\s+/) ?? fields
      if (line.startsWith('#') || line.trim() === '') continue
      const request = line.length > LONGEST_LINE ? null : fields === null ? combinedLine(line) : w3cLine(line, fields)
      if (request === null) found.unreadable++
      else note(request)
    }
  } finally {
    await file.close()
  }

  function note({ method, target, accept }: LoggedRequest): void {
    const path = withoutNames(pathOf(target).split(/[?#]/, 1)[0] ?? '')
    const isBelow = path.slice(0, basePath.length).toLowerCase() === basePath.toLowerCase()
    const below = isBelow ? path.slice(basePath.length) : ''
    if ((method !== 'GET' && method !== 'HEAD') || endpointOf(below) === null) {
      found.others++
      return
    }
    found.requests++
    if (/[?;]/.test(target)) found.withQuery++
    // A value that no header field can have is not asked.
    const isSendable = accept !== null && /^[\u0020-\u007e]+$/.test(accept)
    for (const type of isSendable ? [accept] : types) {
      const key = `${method} ${below} ${type}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }

  const questions = Array.from(counts, ([key, weight]): Question => {
    const [method = '', path = '', ...accept] = key.split(' ')
    return { method: method === 'HEAD' ? 'HEAD' : 'GET', path, accept: accept.join(' '), weight }
  })
  return { questions: questions.toSorted((one, other) => other.weight - one.weight), ...found }
}

/** The path of a target, which may be a whole URL. A character that cannot be sent is encoded, and nothing else. */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/]*/i, '')
  return path.replaceAll(/[^\u0021-\u007e]+/g, (text) => encodeURIComponent(text.toWellFormed()))
}

/** Leaves out path parameters, such as session ids, and replaces an id that is an e-mail address. */
function withoutNames(path: string): string {
  return path.replaceAll(/;[^/]*/g, '').replaceAll(/[^/]*(?:@|%40)[^/]*/gi, 'malformed')
}

const COMBINED = /\[[^\]]*\] "((?:[^"\\]|\\.)*)" (?:\d{3}|-) (?:\d+|-)(.*)$/
const REQUEST_LINE = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/
/** A list of media ranges, as `Accept` has it. */
const MEDIA_RANGES =
  /^[\w*.+-]+\/[\w*.+-]+(?:\s*;\s*[\w.-]+=[^,;]*)*(?:\s*,\s*[\w*.+-]+\/[\w*.+-]+(?:\s*;\s*[\w.-]+=[^,;]*)*)*$/

function combinedLine(line: string): LoggedRequest | null {
  const [, request, rest = ''] = COMBINED.exec(line) ?? []
  const [, method, target] = REQUEST_LINE.exec(unescaped(request ?? '')) ?? []
  if (method === undefined || target === undefined) return null
  // The referrer and the user agent come first; a format that was extended has Accept after them.
  const [, , ...further] = Array.from(rest.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, text = '']) => unescaped(text))
  return { method, target, accept: further.find((text) => MEDIA_RANGES.test(text)) ?? null }
}

/** Both servers write other bytes as `\xe9`, and Apache quotes by a backslash. */
function unescaped(text: string): string {
  return text.replaceAll(/(?:\\x[\da-f]{2})+|\\(.)/gi, (bytes, sign?: string) => {
    return sign ?? Buffer.from(bytes.replaceAll(/\\x/gi, ''), 'hex').toString('utf8')
  })
}

function w3cLine(line: string, fields: readonly string[]): LoggedRequest | null {
  const values = line.split(/\s+/)
  const at = (name: string): string | null => {
    const value = values[fields.findIndex((field) => field.toLowerCase() === name)]
    return value === undefined || value === '-' ? null : value
  }
  const [method, path] = [at('cs-method'), at('cs-uri-stem') ?? at('cs-uri')]
  if (values.length < fields.length || method === null || path === null) return null
  const query = at('cs-uri-query')
  // IIS writes a blank as a plus sign, which media types may contain.
  const accept = (at('cs(accept)') ?? at('accept'))?.replaceAll(/([,;])\++/g, '$1 ') ?? null
  return { method, target: query === null ? path : `${path}?${query}`, accept }
}
