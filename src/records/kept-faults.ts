import { Buffer } from 'node:buffer'
import type { Withheld } from '../domain/withheld.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, grown } from './columns.ts'
import { FaultCounts } from './fault-counts.ts'
import { PackedTexts } from './packed-texts.ts'
import { packWithheld, unpackWithheld } from './packed-withheld.ts'

/** What a read found wrong with a row that is served. */
export interface KeptFault {
  readonly withheld: Withheld
  /** The version in which the row cannot be read. */
  readonly version: number
  /** When it was read, as `Shard.detailsAt`: a page whose request began earlier knows less of the row. */
  readonly at: number
  /** An audit found it, which has to end before anyone judges. */
  readonly audit: boolean
}

const FIRST_PLACES = 16
/** A number in a map of numbers. */
const ENTRY_BYTES = 40

/**
 * What is wrong with rows that are served all the same, by row, until the shrink guard has judged. Packed: a column whose format
 * changed makes a million of them.
 */
export class KeptFaults {
  /** What is wrong, by column. */
  readonly faults: FaultCounts = new FaultCounts()
  readonly #places = new Map<number, number>()
  readonly #free: number[] = []
  #texts = new PackedTexts()
  #versions: Float64Array = EMPTY_FLOATS
  #ats: Float64Array = EMPTY_FLOATS
  #audits: Uint8Array = EMPTY_BYTES
  #byAudits = 0

  get size(): number {
    return this.#places.size
  }

  /** Those that refreshes found. */
  get fromRefreshes(): number {
    return this.#places.size - this.#byAudits
  }

  get sizeBytes(): number {
    return this.#texts.sizeBytes + this.#versions.length * 17 + this.#places.size * ENTRY_BYTES
  }

  has(row: number): boolean {
    return this.#places.size > 0 && this.#places.has(row)
  }

  get(row: number): KeptFault | null {
    const place = this.#placeOf(row)
    if (place === -1) return null
    return {
      withheld: unpackWithheld(this.#texts.read(place)),
      version: this.version(row),
      at: this.at(row),
      audit: this.isFromAudit(row),
    }
  }

  /** NaN if the row has no fault. */
  version(row: number): number {
    return this.#versions[this.#placeOf(row)] ?? Number.NaN
  }

  at(row: number): number {
    return this.#ats[this.#placeOf(row)] ?? Number.NEGATIVE_INFINITY
  }

  isFromAudit(row: number): boolean {
    return this.#audits[this.#placeOf(row)] === 1
  }

  /** Takes the place of what was kept of the row before. */
  keep(row: number, { withheld, version, at, audit }: KeptFault): void {
    this.drop(row)
    const place = this.#free.pop() ?? this.#places.size
    if (place >= this.#versions.length) this.#grow(Math.max(FIRST_PLACES, place * 2))
    this.#places.set(row, place)
    this.#texts.write(place, packWithheld(withheld))
    this.#versions[place] = version
    this.#ats[place] = at
    this.#audits[place] = audit ? 1 : 0
    if (audit) this.#byAudits++
    this.faults.add(withheld, 1)
  }

  /** The row can be read again, or is no longer served. */
  drop(row: number): void {
    const place = this.#placeOf(row)
    if (place === -1) return
    this.faults.add(unpackWithheld(this.#texts.read(place)), -1)
    if (this.#audits[place] === 1) this.#byAudits--
    this.#places.delete(row)
    this.#texts.remove(place)
    this.#free.push(place)
    if (this.#places.size === 0) this.#clear()
  }

  /** Rows may be dropped meanwhile. */
  rows(): Iterable<number> {
    return this.#places.keys()
  }

  #placeOf(row: number): number {
    return this.#places.size === 0 ? -1 : (this.#places.get(row) ?? -1)
  }

  #grow(places: number): void {
    this.#versions = grown(this.#versions, new Float64Array(places))
    this.#ats = grown(this.#ats, new Float64Array(places))
    this.#audits = grown(this.#audits, Buffer.alloc(places))
    this.#texts.grow(places)
  }

  #clear(): void {
    this.#free.length = 0
    this.#texts = new PackedTexts()
    this.#versions = this.#ats = EMPTY_FLOATS
    this.#audits = EMPTY_BYTES
  }
}
