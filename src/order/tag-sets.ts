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
    return this.#sets.size * SET_BYTES + this.#words.size * WORD_BYTES
  }

  /** Returns the number of a set of packed tags, and keeps it in use until `release`. */
  hold(packed: string): number {
    const set = this.#sets.hold(packed)
    if (this.#sets.uses(set) === 1) {
      const words = new Set(this.#tagsOf(packed).map(foldTag))
      this.#members[set] = Array.from(words, (word) => this.#holdWord(word, set))
    }
    return set
  }

  release(set: number): void {
    if (this.#sets.release(set)) for (const word of this.membersOf(set)) this.#releaseWord(word, set)
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

/** `fits` is 1 for each matching tag code. */
export interface FittingTagCodes {
  readonly fits: Uint8Array
  /** Decides the tag codes of a range of entries, before the scan looks at them; `null` if all are decided. */
  readonly settle: ((tagCodes: Uint32Array, from: number, until: number) => void) | null
}

/** The value of a tag code before `settle` decides it. */
const UNKNOWN = 2

const NONE = -1

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
