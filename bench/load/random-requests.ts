import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { Chance } from '../../test/model/chance.ts'
import { ACCEPTS, HOST, UNKNOWN_ENDING, UNKNOWN_SHARE } from './callers.ts'
import type { Popularity } from './zipf.ts'
import { zipfRank } from './zipf.ts'

const HEAD = 'GET /api/events/'
const GUID_LENGTH = 36
/** The length of a line in the file of ids. */
const STRIDE = GUID_LENGTH + 1

/** Generates random requests as bytes in the same buffers, so nothing is allocated while sending. */
export class RandomRequests {
  /** Whether the last request was for an unknown id. */
  isUnknown = false
  readonly #ids: Buffer
  readonly #count: number
  readonly #chance: Chance
  readonly #popularity: Popularity
  readonly #templates: readonly Buffer[] = ACCEPTS.map((accept) =>
    Buffer.from(`${HEAD}${' '.repeat(GUID_LENGTH)} HTTP/1.1\r\nHost: ${HOST}\r\nAccept: ${accept}\r\n\r\n`),
  )

  constructor(idsFile: string, popularity: Popularity = 'even', seed = 7) {
    this.#ids = readFileSync(idsFile)
    this.#count = this.#ids.length / STRIDE
    this.#chance = new Chance(seed)
    this.#popularity = popularity
  }

  /** Returns the next request, valid until the next call. */
  next(): Buffer {
    const from = this.#index() * STRIDE
    const request = this.#chance.pick(this.#templates)
    this.#ids.copy(request, HEAD.length, from, from + GUID_LENGTH)
    this.isUnknown = this.#chance.happens(UNKNOWN_SHARE)
    if (this.isUnknown) request.write(UNKNOWN_ENDING, HEAD.length + GUID_LENGTH - UNKNOWN_ENDING.length, 'latin1')
    return request
  }

  #index(): number {
    if (this.#popularity === 'even') return this.#chance.below(this.#count)
    return zipfRank(this.#count, () => this.#chance.next()) - 1
  }
}
