import { type Body, bodyOf, etagOf } from '../domain/body.ts'
import type { FeedType, Shape } from '../formats/media-types.ts'

/** The longest body that is kept, and the most it may take of the ceiling. */
const LONGEST_BYTES = 4 * 1024 * 1024
const LONGEST_SHARE = 1 / 4
/** The room for pages of one list, if lists are on: a fraction of the ceiling, and the most it may be. */
const PAGES_SHARE = 1 / 16
const MOST_PAGES_BYTES = 8 * 1024 * 1024
/** The ceiling of lists that are made without one: 10,000 events and their venues fit in all shapes. */
const USUAL_CEILING_BYTES = 128 * 1024 * 1024
/** An estimate of the memory of a body besides its bytes. */
const ENTRY_BYTES = 160

/** A body in the form that is sent, and its entity tag, which is computed on first use. */
export class Representation {
  readonly body: Body
  /** What the body was made of besides the record. */
  readonly beside: string
  #etag: string | null = null

  constructor(text: string, beside: string) {
    this.body = bodyOf(text)
    this.beside = beside
  }

  get sizeBytes(): number {
    return this.body.length + this.beside.length + ENTRY_BYTES
  }

  get etag(): string {
    return (this.#etag ??= etagOf(this.body))
  }
}

/** The bodies of one row. */
export class RowBodies {
  readonly byShape: Partial<Record<Shape | FeedType, Representation>> = {}
  sizeBytes = 0
  generation: Generation

  constructor(generation: Generation) {
    this.generation = generation
  }
}

/** A row of a list, as far as its bodies go. */
interface BodyHolder {
  bodies: RowBodies | null
}

/** The rows whose bodies were requested in the same period. */
interface Generation {
  readonly rows: Set<BodyHolder>
  bytes: number
}

function newGeneration(): Generation {
  return { rows: new Set(), bytes: 0 }
}

/**
 * The recently requested bodies of both lists, within a limit of bytes. They lie at their rows in two generations: a
 * row that is requested joins the young one; when that has half of the bytes, the bodies of the old one are dropped.
 */
export class ReadyBodies {
  #young = newGeneration()
  #old = newGeneration()
  #ceilingBytes: number
  #hasPages = false
  #hits = 0
  #misses = 0

  /** @param ceilingBytes The limit for all bodies together. */
  constructor(ceilingBytes: number = USUAL_CEILING_BYTES) {
    this.#ceilingBytes = ceilingBytes
  }

  get count(): Readonly<Record<'limitBytes' | 'bytes' | 'hits' | 'misses', number>> {
    const bytes = this.#young.bytes + this.#old.bytes
    return { limitBytes: this.#ceilingBytes, bytes, hits: this.#hits, misses: this.#misses }
  }

  /** The room for pages of one list. */
  get pagesBytes(): number {
    return Math.min(MOST_PAGES_BYTES, this.#ceilingBytes * PAGES_SHARE)
  }

  /** The most bytes of one generation. */
  get #mostBytes(): number {
    return (this.#ceilingBytes - (this.#hasPages ? 3 * this.pagesBytes : 0)) / 2
  }

  /** Sets another ceiling, and frees the memory above it at once. */
  limitTo(ceilingBytes: number): void {
    this.#ceilingBytes = ceilingBytes
    this.#shrink()
  }

  /** Reserves room for pages of both lists, and of feeds. */
  makeRoomForPages(): void {
    this.#hasPages = true
    this.#shrink()
  }

  /** Gives the room for pages of lists back to the bodies of records. */
  endPages(): void {
    this.#hasPages = false
  }

  /** Drops all bodies at once: the format has changed, or other lists begin to be served. */
  clear(): void {
    this.#turn()
    this.#turn()
  }

  /** Returns the body of a row; `null` if it is not kept, or was made beside something else. */
  read(row: BodyHolder, shape: Shape | FeedType, beside = ''): Representation | null {
    const { bodies } = row
    const found = bodies?.byShape[shape]
    if (bodies === null || found === undefined || found.beside !== beside) return null
    this.#hits++
    if (bodies.generation !== this.#young) this.#renew(row, bodies)
    return found
  }

  /** Makes a body of a text and keeps it, unless it is too large. */
  keep(row: BodyHolder, shape: Shape | FeedType, text: string, beside = ''): Representation {
    this.#misses++
    const made = new Representation(text, beside)
    if (made.sizeBytes > Math.min(LONGEST_BYTES, this.#ceilingBytes * LONGEST_SHARE)) return made
    const replacedBytes = row.bodies?.byShape[shape]?.sizeBytes ?? 0
    if ((row.bodies?.sizeBytes ?? 0) - replacedBytes + made.sizeBytes > this.#mostBytes) this.forget(row)
    const bodies = (row.bodies ??= new RowBodies(this.#young))
    // Only now: what was replaced may have been forgotten with the others.
    const bytes = made.sizeBytes - (bodies.byShape[shape]?.sizeBytes ?? 0)
    bodies.byShape[shape] = made
    bodies.generation.bytes += bytes
    bodies.sizeBytes += bytes
    this.#renew(row, bodies)
    return made
  }

  /** Drops the bodies of a row: it changed or is gone. */
  forget(row: BodyHolder): void {
    const { bodies } = row
    if (bodies === null) return
    row.bodies = null
    bodies.generation.rows.delete(row)
    bodies.generation.bytes -= bodies.sizeBytes
  }

  /** Moves the bodies of a row into the young generation. */
  #renew(row: BodyHolder, bodies: RowBodies): void {
    bodies.generation.rows.delete(row)
    bodies.generation.bytes -= bodies.sizeBytes
    if (this.#young.bytes + bodies.sizeBytes > this.#mostBytes) this.#turn()
    bodies.generation = this.#young
    this.#young.rows.add(row)
    this.#young.bytes += bodies.sizeBytes
  }

  #turn(): void {
    for (const row of this.#old.rows) row.bodies = null
    this.#old = this.#young
    this.#young = newGeneration()
  }

  #shrink(): void {
    while (this.#young.bytes + this.#old.bytes > 2 * this.#mostBytes) this.#turn()
  }
}
