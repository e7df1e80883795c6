import { Buffer } from 'node:buffer'
import { type Expected, type RowFault, type Withheld, type WithheldRow, FAULTS } from '../domain/withheld.ts'
import type { Guid } from '../domain/guid.ts'
import { FaultCounts } from '../domain/fault-counts.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, resized, PackedTexts } from './packed-texts.ts'

/** A frequent value by its number, or the value itself once its table is full. */
type Numbered<Value> = number | Value | null

/** Trailing nulls are omitted. */
type PackedFault = readonly [
  fault: number,
  column?: Numbered<string>,
  expected?: Numbered<Expected>,
  found?: string | null,
]

/** `name` is 0 for a record without a name. */
type Packed = readonly [where: string, name: string | 0, first: PackedFault, ...also: PackedFault[]]

/** Packs a withheld row's faults as one text: a million objects would take half a gigabyte. */
export function packWithheld({ where, name, also = [], ...first }: Withheld): string {
  const packed: Packed = [where, name ?? 0, packFault(first), ...also.map(packFault)]
  return JSON.stringify(packed)
}

export function unpackWithheld(packed: string): Withheld {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- packed above
  const [where, name, first, ...also] = JSON.parse(packed) as Packed
  const { fault, column, expected, found } = unpackFault(first)
  return {
    fault,
    column,
    expected,
    found,
    where,
    ...(name === 0 ? {} : { name }),
    ...(also.length === 0 ? {} : { also: also.map(unpackFault) }),
  }
}

function packFault({ fault, column, expected, found }: RowFault): PackedFault {
  const number = FAULTS.indexOf(fault)
  if (found !== null) return [number, columns.numbered(column), expectations.numbered(expected), found]
  if (expected !== null) return [number, columns.numbered(column), expectations.numbered(expected)]
  return column === null ? [number] : [number, columns.numbered(column)]
}

function unpackFault([fault, column = null, expected = null, found = null]: PackedFault): RowFault {
  return {
    fault: FAULTS[fault] ?? 'unreadable',
    column: columns.valueOf(column),
    expected: expectations.valueOf(expected),
    found,
  }
}

const MOST_NUMBERED = 1000

/** Numbers the values that many rows share. A configuration has a few dozen. */
class NumberedValues<Value extends string | object> {
  readonly #values: Value[] = []
  /** By the value itself: each reader of a column has one expectation. */
  readonly #numbers = new Map<Value, number>()

  numbered(value: Value | null): Numbered<Value> {
    if (value === null) return null
    const number = this.#numbers.get(value)
    if (number !== undefined || this.#values.length === MOST_NUMBERED) return number ?? value
    this.#numbers.set(value, this.#values.length)
    return this.#values.push(value) - 1
  }

  valueOf(numbered: Numbered<Value>): Value | null {
    return typeof numbered === 'number' ? (this.#values[numbered] ?? null) : numbered
  }
}

const columns = new NumberedValues<string>()
const expectations = new NumberedValues<Expected>()

const CHUNK_BYTES = 64 * 1024
/** The length of the text (4 bytes), and whether the text begins with an id (1 byte). */
const HEAD_BYTES = 5
const ID_LENGTH = 36

/** Withheld rows without an id of their own, packed one after another. */
export class PackedRows implements Iterable<WithheldRow> {
  length = 0
  sizeBytes = 0
  readonly faults: FaultCounts = new FaultCounts()
  readonly #chunks: Buffer[] = []
  /** The used bytes of the last chunk. */
  #used = CHUNK_BYTES

  /** Returns rows of which only the number per fault is known: another process held them. */
  static counted(counts: readonly number[]): PackedRows {
    const rows = new PackedRows()
    rows.faults.addAll(
      counts.flatMap((count, index) => {
        const fault = FAULTS[index]
        return fault === undefined || count === 0 ? [] : [{ fault, column: null, count, first: count }]
      }),
    )
    rows.length = counts.reduce((sum, count) => sum + count, 0)
    return rows
  }

  /** The number of rows by first fault, in the order of `FAULTS`. */
  get counts(): readonly number[] {
    const counts = FAULTS.map(() => 0)
    for (const { fault, first } of this.faults)
      counts[FAULTS.indexOf(fault)] = (counts[FAULTS.indexOf(fault)] ?? 0) + first
    return counts
  }

  add(id: Guid | null, withheld: Withheld): void {
    const text = `${id ?? ''}${packWithheld(withheld)}`
    const length = Buffer.byteLength(text)
    let chunk = this.#chunks.at(-1)
    if (chunk === undefined || this.#used + HEAD_BYTES + length > chunk.length) {
      // A length of 0 ends a chunk.
      chunk = Buffer.alloc(Math.max(CHUNK_BYTES, HEAD_BYTES + length))
      this.#chunks.push(chunk)
      this.sizeBytes += chunk.length
      this.#used = 0
    }
    chunk.writeUInt32LE(length, this.#used)
    chunk[this.#used + 4] = id === null ? 0 : 1
    chunk.write(text, this.#used + HEAD_BYTES, length)
    this.#used += HEAD_BYTES + length
    this.length++
    this.faults.add(withheld, 1)
  }

  *[Symbol.iterator](): Generator<WithheldRow, void> {
    for (const chunk of this.#chunks) yield* rowsIn(chunk)
  }

  /**
   * Yields the rows of each chunk, chunk by chunk, so that the caller may pause in between: all rows of a chunk that
   * contains a text, no row of others, which are not unpacked.
   */
  *holding(text: string): Generator<Iterable<WithheldRow>, void> {
    const bytes = Buffer.from(JSON.stringify(text).slice(1, -1))
    for (const chunk of this.#chunks) yield chunk.includes(bytes) ? rowsIn(chunk) : []
  }
}

function* rowsIn(chunk: Buffer): Generator<WithheldRow, void> {
  for (let at = 0; at + HEAD_BYTES <= chunk.length;) {
    const length = chunk.readUInt32LE(at)
    if (length === 0) return
    const from = at + HEAD_BYTES
    const text = chunk.toString('utf8', from, from + length)
    const hasId = chunk[at + 4] === 1
    // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- written above
    const id = hasId ? (text.slice(0, ID_LENGTH) as Guid) : null
    yield { id, withheld: unpackWithheld(hasId ? text.slice(ID_LENGTH) : text) }
    at = from + length
  }
}

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

  /** The number of withheld rows whose fault was found by a refresh, not by an audit. */
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
    this.#versions = resized(this.#versions, new Float64Array(places))
    this.#ats = resized(this.#ats, new Float64Array(places))
    this.#audits = resized(this.#audits, Buffer.alloc(places))
    this.#texts.resize(places)
  }

  #clear(): void {
    this.#free.length = 0
    this.#texts = new PackedTexts()
    this.#versions = this.#ats = EMPTY_FLOATS
    this.#audits = EMPTY_BYTES
  }
}
