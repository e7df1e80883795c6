import { Buffer } from 'node:buffer'
import type { Body } from '../domain/body.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'

const LEAST_BYTES = 64 * 1024

/** The bodies of a page's records, one after another (contract §4.2). The memory is reused for the next page. */
export class JoinedBodies {
  count = 0
  length = 0
  readonly #formatter: Formatter
  #shape: Shape = 'json'
  #buffer: Buffer = Buffer.alloc(0)

  constructor(formatter: Formatter) {
    this.#formatter = formatter
  }

  /** Begins a new page; the bytes of the previous one are no longer valid. */
  start(shape: Shape): void {
    this.#shape = shape
    this.count = 0
    this.length = 0
  }

  add(body: Body): void {
    const { between, skip } = this.#formatter.recordFrame(this.#shape)
    this.#reserve(this.length + between.length + body.length)
    if (this.count > 0) this.length += this.#buffer.write(between, this.length, 'latin1')
    this.length += copyBody(body, skip, this.#buffer, this.length)
    this.count++
  }

  /** Valid until the next `start`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length)
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(LEAST_BYTES, bytes * 2))
    this.#buffer.copy(larger)
    this.#buffer = larger
  }
}

/** Copies a body without its first bytes, and returns the number of bytes copied. */
function copyBody(body: Body, skip: number, into: Buffer, at: number): number {
  if (typeof body === 'string') return into.write(skip === 0 ? body : body.slice(skip), at, 'latin1')
  into.set(skip === 0 ? body : body.subarray(skip), at)
  return body.length - skip
}
