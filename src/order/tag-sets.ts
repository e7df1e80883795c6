/** Estimates in bytes for a set and for a word, including their entries in maps. */
const SET_BYTES = 300
const WORD_BYTES = 160
const MOST_HOLDERS = 10_000

/**
 * Folds the case of a tag (contract §4.1). The conversion goes through upper case, which gives `ß` and `SS` the same
 * result, and both lower-case sigmas.
 *
 * @example foldTag('STRASSE') === foldTag('Straße') // true
 */
function foldTag(tag: string): string {
  const lower = tag.toLowerCase()
  return NOT_ASCII.test(lower) ? lower.toWellFormed().toUpperCase().toLowerCase() : lower
}

const NOT_ASCII = /[^\u0000-\u007f]/

/**
 * The distinct tag sets of the rows, each with a number while a row has it. Queries are matched against sets, not rows.
 */
export class TagSets {
  readonly #words = new Numbers()
  readonly #sets = new Numbers()
  /** The words of each set. */
  readonly #members: (readonly number[])[] = []
  /**
   * The sets that have each word. A number instead of a Set if there is only one: most words of a large vocabulary
   * occur in one event.
   */
  readonly #holders: (number | Set<number>)[] = []

  /** The tags as they are written: several of them may be one word. */
  readonly #spellings = new Numbers()
  /** The spellings of each set. */
  readonly #written: (readonly number[])[] = []
  /** The word of each spelling. */
  readonly #wordOf: number[] = []

  readonly #tagsOf: (packed: string) => readonly string[]
  readonly #mostHolders: number

  /**
   * @param mostHolders if more sets than this have a wanted tag, `matching` does not examine all of them: only those
   * that the scan meets
   */
  constructor(tagsOf: (packed: string) => readonly string[], mostHolders: number = MOST_HOLDERS) {
    this.#tagsOf = tagsOf
    this.#mostHolders = mostHolders
  }

  get sizeBytes(): number {
    return this.#sets.size * SET_BYTES + (this.#words.size + this.#spellings.size) * WORD_BYTES
  }

  /** Returns the number of a set of packed tags, and keeps it in use until `release`. */
  hold(packed: string): number {
    const set = this.#sets.hold(packed)
    if (this.#sets.uses(set) === 1) {
      const tags = new Set(this.#tagsOf(packed))
      const words = new Set(Array.from(tags, foldTag))
      this.#members[set] = Array.from(words, (word) => this.#holdWord(word, set))
      this.#written[set] = Array.from(tags, (tag) => this.#holdSpelling(tag))
    }
    return set
  }

  release(set: number): void {
    if (!this.#sets.release(set)) return
    for (const word of this.membersOf(set)) this.#releaseWord(word, set)
    for (const spelling of this.#written[set] ?? []) this.#spellings.release(spelling)
  }

  #holdSpelling(tag: string): number {
    const spelling = this.#spellings.hold(tag)
    this.#wordOf[spelling] = this.#words.find(foldTag(tag)) ?? NONE
    return spelling
  }

  #holdWord(text: string, set: number): number {
    const word = this.#words.hold(text)
    const holders = this.#holders[word] ?? NONE
    if (this.#words.uses(word) === 1) this.#holders[word] = set
    else if (typeof holders === 'number') this.#holders[word] = new Set([holders, set])
    else holders.add(set)
    return word
  }

  #releaseWord(word: number, set: number): void {
    const holders = this.#holders[word] ?? NONE
    if (this.#words.release(word)) this.#holders[word] = NONE
    else if (typeof holders !== 'number') holders.delete(set)
  }

  /** Returns the word numbers of a set. */
  membersOf(set: number): readonly number[] {
    return this.#members[set] ?? []
  }

  /** The number of sets, released ones included. */
  get count(): number {
    return this.#members.length
  }

  /**
   * Returns the tags of so many rows of each set, each in its most frequent spelling, the most frequent tags first. The
   * result depends on the rows alone, not on the order in which they were written.
   */
  tally(rows: Uint32Array, most: number): readonly CountedTag[] {
    const words = new Int32Array(this.#words.size)
    const spellings = new Uint32Array(this.#spellings.size)
    for (let set = 0; set < rows.length; set++) {
      const count = rows[set] ?? 0
      if (count === 0) continue
      const written = this.#written[set] ?? NOTHING
      for (let at = 0; at < written.length; at++) {
        const spelling = written[at] ?? 0
        spellings[spelling] = (spellings[spelling] ?? 0) + count
      }
      // A row with two spellings of a word counts once.
      if (written.length === this.membersOf(set).length) continue
      for (const word of this.membersOf(set)) words[word] = (words[word] ?? 0) + count
      for (const spelling of written) {
        const word = this.#wordOf[spelling] ?? 0
        words[word] = (words[word] ?? 0) - count
      }
    }
    const best = new Int32Array(words.length).fill(NONE)
    for (let spelling = 0; spelling < spellings.length; spelling++) {
      const count = spellings[spelling] ?? 0
      if (count === 0) continue
      const word = this.#wordOf[spelling] ?? 0
      words[word] = (words[word] ?? 0) + count
      const other = best[word] ?? NONE
      const more = other === NONE ? 1 : count - (spellings[other] ?? 0)
      if (more > 0 || (more === 0 && this.#spellings.at(spelling) < this.#spellings.at(other))) best[word] = spelling
    }
    const top = new TopTags(most)
    for (let word = 0; word < words.length; word++) {
      const count = words[word] ?? 0
      const tag = count === 0 ? '' : this.#spellings.at(best[word] ?? NONE)
      // Nobody can ask for the empty tag.
      if (tag !== '') top.add(tag, count)
    }
    return top.sorted()
  }

  /** Returns the word numbers of those tags that any row has. */
  wordsOf(tags: readonly string[]): readonly number[] {
    return tags.map((tag) => this.#words.find(foldTag(tag))).filter((word) => word !== undefined)
  }

  /**
   * Returns the tag codes with any of these tags (all if there are none), restricted to available tickets if
   * `available`. `null` if no row has such a tag.
   */
  matching(tags: readonly string[], available: boolean): FittingTagCodes | null {
    const fits = new Uint8Array(this.#members.length * 2)
    if (tags.length === 0) {
      for (let tagCode = available ? 1 : 0; tagCode < fits.length; tagCode += available ? 2 : 1) fits[tagCode] = 1
      return { fits, settle: null }
    }
    const words = this.wordsOf(tags)
    if (words.length === 0) return null
    const holders = words.map((word) => this.#holders[word] ?? NONE)
    if (
      holders.reduce<number>((sum, sets) => sum + (typeof sets === 'number' ? 1 : sets.size), 0) > this.#mostHolders
    ) {
      return { fits: fits.fill(UNKNOWN), settle: this.#settling(fits, words, available) }
    }
    for (const sets of holders) {
      for (const set of typeof sets === 'number' ? [sets] : sets) {
        fits[set * 2 + 1] = 1
        if (!available) fits[set * 2] = 1
      }
    }
    return { fits, settle: null }
  }

  #settling(fits: Uint8Array, words: readonly number[], available: boolean): FittingTagCodes['settle'] {
    const isWanted = new Uint8Array(this.#holders.length)
    for (const word of words) isWanted[word] = 1
    return (tagCodes, from, until) => {
      for (let at = from; at < until; at++) {
        const tagCode = tagCodes[at] ?? 0
        if (fits[tagCode] !== UNKNOWN) continue
        const hasTickets = !available || (tagCode & 1) === 1
        fits[tagCode] = hasTickets && this.membersOf(tagCode >>> 1).some((word) => isWanted[word] === 1) ? 1 : 0
      }
    }
  }
}

/** A tag, and the number of rows that have it. */
export interface CountedTag {
  readonly tag: string
  readonly count: number
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

/** `fits` is 1 for each matching tag code. */
export interface FittingTagCodes {
  readonly fits: Uint8Array
  /** Decides the tag codes of a range of entries, before the scan looks at them; `null` if all are decided. */
  readonly settle: ((tagCodes: Uint32Array, from: number, until: number) => void) | null
}

/** The value of a tag code before `settle` decides it. */
const UNKNOWN = 2

const NONE = -1
const NOTHING: readonly number[] = []

/** Numbers for texts in use. Released numbers are reused. */
class Numbers {
  readonly #numbers = new Map<string, number>()
  readonly #values: string[] = []
  readonly #uses: number[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#values.length
  }

  find(value: string): number | undefined {
    return this.#numbers.get(value)
  }

  /** Returns the text of a number in use. */
  at(number: number): string {
    return this.#values[number] ?? ''
  }

  uses(number: number): number {
    return this.#uses[number] ?? 0
  }

  hold(value: string): number {
    let number = this.#numbers.get(value)
    if (number === undefined) {
      number = this.#free.pop() ?? this.#values.length
      this.#numbers.set(value, number)
      this.#values[number] = value
      this.#uses[number] = 0
    }
    this.#uses[number] = this.uses(number) + 1
    return number
  }

  /** Returns true if the text is no longer in use. */
  release(number: number): boolean {
    const left = this.uses(number) - 1
    this.#uses[number] = left
    const value = this.#values[number]
    if (left > 0 || value === undefined) return false
    this.#numbers.delete(value)
    this.#free.push(number)
    return true
  }
}
