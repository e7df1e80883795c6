import type { Tick } from '../domain/date-time.ts'
import type { Guid } from '../domain/guid.ts'
import { foldTag } from '../domain/fold-tag.ts'
import type { RowKey, TagSet } from './held-row.ts'
import type { SortKey } from './list-kinds.ts'

/** An estimate of the memory of a set of tags, bytes. */
const SET_BYTES = 400

/** The keys of the rows of a list. Rows share their venues and tags: each takes memory once. */
export class RowKeys {
  readonly #tags = new Shared<TagSet>()
  readonly #venues = new Shared<Guid>()

  get sizeBytes(): number {
    return this.#tags.size * SET_BYTES
  }

  /** Returns the key of a row, and keeps its venue and its tags until `release`. */
  hold({ start, end, venue, tags, isAvailable }: SortKey): RowKey {
    const shared = this.#tags.hold(nameOf(tags), (key) => tagSetOf(key, tags))
    return { start, end, venue: this.#venues.hold(venue, () => venue), tags: shared, isAvailable }
  }

  release({ venue, tags }: RowKey): void {
    this.#tags.release(tags.key)
    this.#venues.release(venue)
  }
}

/** Returns true if two keys differ in the availability at most: then the row keeps its place. */
export function isSamePlace(one: RowKey, { start, end, venue, tags }: SortKey): boolean {
  return isEqual(one.start, start) && isEqual(one.end, end) && one.venue === venue && one.tags.key === nameOf(tags)
}

function isEqual(one: Tick, other: Tick): boolean {
  return one.ms === other.ms && one.ticks === other.ticks
}

function nameOf(tags: readonly string[]): string {
  return JSON.stringify(tags)
}

function tagSetOf(key: string, tags: readonly string[]): TagSet {
  // A lone surrogate becomes U+FFFD, as in the packed record (contract §3.2).
  const written = [...new Set(tags.map((tag) => tag.toWellFormed()))]
  return { key, written, words: [...new Set(written.map(foldTag))] }
}

/** Values that many rows have, each once, while a row has it. */
class Shared<Value> {
  readonly #held = new Map<string, { readonly value: Value; uses: number }>()

  get size(): number {
    return this.#held.size
  }

  hold(key: string, make: (key: string) => Value): Value {
    let held = this.#held.get(key)
    if (held === undefined) this.#held.set(key, (held = { value: make(key), uses: 0 }))
    held.uses++
    return held.value
  }

  release(key: string): void {
    const held = this.#held.get(key)
    if (held !== undefined && --held.uses === 0) this.#held.delete(key)
  }
}
