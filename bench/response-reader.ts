import { Buffer } from 'node:buffer'

const END = Buffer.from('\r\n\r\n')
const NAME = Buffer.from('content-length:')
const LINE_FEED = 10
const ZERO = 48
const STATUS_AT = 'HTTP/1.1 '.length

/**
 * Finds the ends of responses on a connection with one request at a time, by Content-Length, in chunks of any size. It
 * copies bytes only if a head is split across chunks, which is rare.
 */
export class ResponseReader {
  /** The status of the last complete response. */
  status = 0
  #head: Buffer | null = null
  #missing = -1

  /**
   * Takes a chunk; returns whether it ends a response. Throws if a response has no length or more follows than was
   * requested.
   */
  take(chunk: Buffer): boolean {
    if (this.#missing !== -1) return this.#takeBody(chunk.length)
    const bytes = this.#head === null ? chunk : Buffer.concat([this.#head, chunk])
    const end = bytes.indexOf(END)
    if (end === -1) {
      // Copied, since the socket may reuse the chunk.
      this.#head = Buffer.from(bytes)
      return false
    }
    this.#head = null
    this.status = numberAt(bytes, STATUS_AT)
    this.#missing = lengthIn(bytes, end)
    return this.#takeBody(bytes.length - end - END.length)
  }

  #takeBody(length: number): boolean {
    this.#missing -= length
    if (this.#missing < 0) throw new Error(`${-this.#missing} bytes follow a response`)
    if (this.#missing > 0) return false
    this.#missing = -1
    return true
  }
}

/** The value of Content-Length in a head that ends at `end`. */
function lengthIn(bytes: Buffer, end: number): number {
  for (let at = bytes.indexOf(LINE_FEED); at !== -1 && at < end; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if (isNamedAt(bytes, at + 1)) return numberAt(bytes, at + 1 + NAME.length)
  }
  throw new Error(`a response without Content-Length: ${bytes.toString('latin1', 0, end)}`)
}

function isNamedAt(bytes: Buffer, at: number): boolean {
  for (let index = 0; index < NAME.length; index++) {
    // Setting this bit converts capitals to small letters and leaves `-` and `:` unchanged.
    if (((bytes[at + index] ?? 0) | 0x20) !== NAME[index]) return false
  }
  return true
}

function numberAt(bytes: Buffer, at: number): number {
  let [index, value] = [at, 0]
  while (bytes[index] === 32) index++
  for (let digit = (bytes[index] ?? 0) - ZERO; digit >= 0 && digit <= 9; digit = (bytes[++index] ?? 0) - ZERO) {
    value = value * 10 + digit
  }
  return value
}
