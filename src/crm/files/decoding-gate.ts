import { openDecoder } from '../../domain/encoding.ts'
import type { ByteGate, GatedBytes } from './utf8-gate.ts'

const LINE_FEED = 0x0a
const NOTHING = Buffer.alloc(0)

/** Makes UTF-8 of another encoding; a byte order mark is dropped. */
export class DecodingGate implements ByteGate {
  line = 1
  readonly problem: string
  readonly #decoder: TextDecoder
  /** The bytes since the last line feed, for whoever has to find the line of a fault. */
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

  /** Line feeds before what is replaced where nothing is refused. */
  #linesBeforeFault(chunk: Buffer): number {
    // In two-byte units a chunk begins with a whole one, and a byte of 0x0a need not be a line feed.
    const isWide = this.#decoder.encoding.startsWith('utf-16')
    const bytes = isWide ? chunk : Buffer.concat([this.#lineBytes, chunk])
    const text = openDecoder(this.#decoder.encoding, false)?.decode(bytes) ?? ''
    return text.slice(0, Math.max(0, text.indexOf('\ufffd'))).split('\n').length - 1
  }
}
