import { Buffer } from 'node:buffer'
import { type Expected, type RowFault, type Withheld, type WithheldRow, FAULTS } from '../domain/withheld.ts'
import type { Guid } from '../domain/guid.ts'
import { FaultCounts } from '../domain/fault-counts.ts'

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
interface KeptFault {
  /** The fault as `packWithheld` writes it, because a column whose format changes causes as many faults as there are rows. */
  readonly packed: string
  /** The version of the unreadable row. */
  readonly version: number
  /** When the row was read, in the time of `Shard.detailsAt`. A page requested earlier must not overwrite it. */
  readonly at: number
  /** Found by an audit, which must end before the shrink guard judges. */
  readonly audit: boolean
}

/** An estimate of the memory of a kept fault besides its characters, bytes. */
const KEPT_BYTES = 150

/** Faults of rows that are served until the shrink guard has judged, by row. */
export class KeptFaults {
  /** Counts by fault and column. */
  readonly faults: FaultCounts = new FaultCounts()
  readonly #kept = new Map<number, KeptFault>()
  #characters = 0
  #byAudits = 0

  get size(): number {
    return this.#kept.size
  }

  /** The number of withheld rows whose fault was found by a refresh, not by an audit. */
  get fromRefreshes(): number {
    return this.#kept.size - this.#byAudits
  }

  get sizeBytes(): number {
    return this.#kept.size * KEPT_BYTES + this.#characters
  }

  get(row: number): KeptFault | undefined {
    return this.#kept.get(row)
  }

  /** Replaces the fault that was kept for the row. */
  keep(row: number, withheld: Withheld, read: Omit<KeptFault, 'packed'>): void {
    this.drop(row)
    const packed = packWithheld(withheld)
    this.#kept.set(row, { packed, ...read })
    this.#characters += packed.length
    if (read.audit) this.#byAudits++
    this.faults.add(withheld, 1)
  }

  /** Removes the row's fault: the row is readable again or is no longer served. */
  drop(row: number): void {
    const kept = this.#kept.get(row)
    if (kept === undefined) return
    this.#kept.delete(row)
    this.#characters -= kept.packed.length
    if (kept.audit) this.#byAudits--
    this.faults.add(unpackWithheld(kept.packed), -1)
  }

  /** The caller may drop rows while iterating. */
  entries(): Iterable<readonly [row: number, KeptFault]> {
    return this.#kept
  }
}
