import { isUtf8 } from 'node:buffer'
import { openDecoder } from '../../domain/encoding.ts'

const LINE_FEED = 0x0a
const NOTHING = Buffer.alloc(0)

interface GatedBytes {
  readonly bytes: Buffer
  /** Whether the bytes after `bytes` are not UTF-8, in the line where `bytes` ends. */
  readonly broken: boolean
}

/** Converts the bytes of a file to UTF-8. */
export interface ByteGate {
  /** The line of the next byte. */
  readonly line: number
  /** Describes bytes that are not valid. */
  readonly problem: string
  pass(chunk: Buffer): GatedBytes
  /** Ends the file; returns whether it ends within a character. */
  finish(): boolean
}

/** Passes UTF-8 on in whole characters, without a byte order mark. */
export class Utf8Gate implements ByteGate {
  readonly problem = 'the bytes are not UTF-8; save the file as UTF-8 (it may be Windows-1252 or UTF-16)'
  line = 1
  #rest: Buffer = NOTHING
  #isFirst = true

  pass(chunk: Buffer): GatedBytes {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (this.#isFirst && bytes.length < 3 && BOM.subarray(0, bytes.length).equals(bytes)) {
      this.#rest = Buffer.from(bytes)
      return { bytes: NOTHING, broken: false }
    }
    if (this.#isFirst && bytes.subarray(0, 3).equals(BOM)) bytes = bytes.subarray(3)
    this.#isFirst = false
    const end = wholeEnd(bytes)
    this.#rest = Buffer.from(bytes.subarray(end))
    bytes = bytes.subarray(0, end)
    const broken = !isUtf8(bytes)
    if (broken) bytes = validLines(bytes)
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) this.line++
    return { bytes, broken }
  }

  finish(): boolean {
    return this.#rest.length > 0
  }
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** The end of the last whole character; invalid bytes count as whole. */
function wholeEnd(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

/** The lines before the first invalid one. In UTF-8, a line feed byte is never part of another character. */
function validLines(bytes: Buffer): Buffer {
  let from = 0
  for (;;) {
    const at = bytes.indexOf(LINE_FEED, from)
    if (at === -1 || !isUtf8(bytes.subarray(from, at))) return bytes.subarray(0, from)
    from = at + 1
  }
}

/** Converts another encoding to UTF-8 and drops a byte order mark. */
export class DecodingGate implements ByteGate {
  line = 1
  readonly problem: string
  readonly #decoder: TextDecoder
  /** The bytes since the last line feed, needed to find the line of a fault. */
  #lineBytes: Buffer = NOTHING

  constructor(encoding: string) {
    const decoder = openDecoder(encoding)
    if (decoder === null) throw new Error(`the encoding ${encoding} is not known`)
    this.#decoder = decoder
    this.problem = `a byte here is not ${encoding}, as crm.texts.encoding says`
  }

  pass(chunk: Buffer): GatedBytes {
    const text = this.#decode(chunk)
    if (text === null) {
      this.line += this.#linesBeforeFault(chunk)
      return { bytes: NOTHING, broken: true }
    }
    const bytes = Buffer.from(text)
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) this.line++
    const last = chunk.lastIndexOf(LINE_FEED)
    this.#lineBytes = Buffer.from(chunk.subarray(last + 1))
    return { bytes, broken: false }
  }

  finish(): boolean {
    return this.#decode(null) === null
  }

  #decode(chunk: Buffer | null): string | null {
    try {
      return chunk === null ? this.#decoder.decode() : this.#decoder.decode(chunk, { stream: true })
    } catch (cause) {
      if (cause instanceof TypeError) return null
      throw new Error('a file cannot be decoded', { cause })
    }
  }

  /** Counts the line feeds before the first invalid character. */
  #linesBeforeFault(chunk: Buffer): number {
    // A chunk of UTF-16 begins with a whole unit, and a byte 0x0a need not be a line feed.
    const isWide = this.#decoder.encoding.startsWith('utf-16')
    const bytes = isWide ? chunk : Buffer.concat([this.#lineBytes, chunk])
    const text = openDecoder(this.#decoder.encoding, false)?.decode(bytes) ?? ''
    return text.slice(0, Math.max(0, text.indexOf('\ufffd'))).split('\n').length - 1
  }
}
