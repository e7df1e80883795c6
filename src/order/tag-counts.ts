import { foldTag } from '../domain/fold-tag.ts'
import type { TagSet } from '../records/held-row.ts'

/** A tag, and the number of rows that have it. */
export interface CountedTag {
  readonly tag: string
  readonly count: number
}

/**
 * Returns the tags of so many rows of each set, each in its most frequent spelling, the most frequent tags first. The
 * result depends on the rows alone, not on the order in which they were written.
 */
export function tally(rows: ReadonlyMap<TagSet, number>, most: number): readonly CountedTag[] {
  const spellings = new Map<string, number>()
  const words = new Map<string, number>()
  for (const [{ written, words: folded }, count] of rows) {
    for (const tag of written) spellings.set(tag, (spellings.get(tag) ?? 0) + count)
    for (const word of folded) words.set(word, (words.get(word) ?? 0) + count)
  }
  const best = new Map<string, string>()
  for (const [tag, count] of spellings) {
    const word = foldTag(tag)
    const other = best.get(word)
    const more = other === undefined ? 1 : count - (spellings.get(other) ?? 0)
    if (other === undefined || more > 0 || (more === 0 && tag < other)) best.set(word, tag)
  }
  const top = new TopTags(most)
  // Nobody can ask for the empty tag.
  for (const [word, tag] of best) if (tag !== '') top.add(tag, words.get(word) ?? 0)
  return top.sorted()
}

/** The most frequent tags, of any number. Sorts no more than twice as many as are kept. */
class TopTags {
  #kept: CountedTag[] = []
  /** The last one that is kept; `null` while all are. */
  #last: CountedTag | null = null
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  add(tag: string, count: number): void {
    const last = this.#last
    if (last !== null && (count < last.count || (count === last.count && tag > last.tag))) return
    if (this.#kept.push({ tag, count }) < 2 * this.#most) return
    this.#kept = this.sorted()
    this.#last = this.#kept.at(-1) ?? null
  }

  sorted(): CountedTag[] {
    return this.#kept.toSorted(byCount).slice(0, this.#most)
  }
}

function byCount(one: CountedTag, other: CountedTag): number {
  if (one.count !== other.count) return other.count - one.count
  return one.tag < other.tag ? -1 : 1
}
