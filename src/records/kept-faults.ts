import { Buffer } from 'node:buffer'
import type { Withheld } from '../domain/withheld.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, grown } from './columns.ts'
import { FaultCounts } from '../domain/fault-counts.ts'
import { PackedTexts } from './packed-texts.ts'
import { packWithheld, unpackWithheld } from './packed-withheld.ts'

/** The fault of a row that is still served, with the read that found it. */
export interface KeptFault {
  readonly withheld: Withheld
  /** The version of the unreadable row. */
  readonly version: number
  /** When the row was read, in the time of `Shard.detailsAt`. A page requested earlier must not overwrite it. */
  readonly at: number
  /** Found by an audit, which must end before the shrink guard judges. */
  readonly audit: boolean
}

const FIRST_PLACES = 16
/** An estimate of the memory of an entry in a Map of numbers, bytes. */
const ENTRY_BYTES = 40

/**
 * Faults of rows that are served until the shrink guard has judged, by row. Packed, because a column whose format
 * changes produces a million of them.
 */
export class KeptFaults {
  /** Counts by fault and column. */
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

  /** The number of rows whose fault a refresh found. */
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

  /** `NaN` if the row has no fault. */
  version(row: number): number {
    return this.#versions[this.#placeOf(row)] ?? Number.NaN
  }

  at(row: number): number {
    return this.#ats[this.#placeOf(row)] ?? Number.NEGATIVE_INFINITY
  }

  isFromAudit(row: number): boolean {
    return this.#audits[this.#placeOf(row)] === 1
  }

  /** Replaces the fault that was kept for the row. */
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

  /** Removes the row's fault: the row is readable again or is no longer served. */
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

  /** The caller may drop rows while iterating. */
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
