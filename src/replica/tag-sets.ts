import { unpackTags } from './packing.ts'

/** What a set, and a word, take roughly, with their place in a map. */
const SET_BYTES = 300
const WORD_BYTES = 160

/**
 * A tag without regard to case (contract §4.1): through upper case, where `ß` and `SS`, and the two small sigmas, are one.
 *
 * @example foldTag('STRASSE') === foldTag('Straße') // true
 */
function foldTag(tag: string): string {
  const lower = tag.toLowerCase()
  return NOT_ASCII.test(lower) ? lower.toWellFormed().toUpperCase().toLowerCase() : lower
}

const NOT_ASCII = /[^\u0000-\u007f]/

/** The distinct sets of tags that rows have, each a number while a row has it: a query is matched with sets, never with rows. */
export class TagSets {
  readonly #words = new Numbers()
  readonly #sets = new Numbers()
  /** The words of each set. */
  readonly #members: (readonly number[])[] = []
  /** The sets that have each word; where it is one alone its number, since of tags that are many most are of one event. */
  readonly #holders: (number | Set<number>)[] = []

  get sizeBytes(): number {
    return this.#sets.size * SET_BYTES + this.#words.size * WORD_BYTES
  }

  /** The number of the set of these tags, as they are packed, held once more until `release`. */
  hold(packed: string): number {
    const set = this.#sets.hold(packed)
    if (this.#sets.uses(set) === 1) {
      const words = new Set(unpackTags(packed).map(foldTag))
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

  /** The numbers of the words of a set. */
  membersOf(set: number): readonly number[] {
    return this.#members[set] ?? []
  }

  /** The numbers of those of these tags that any row has. */
  wordsOf(tags: readonly string[]): readonly number[] {
    return tags.map((tag) => this.#words.find(foldTag(tag))).filter((word) => word !== undefined)
  }

  /**
   * By mark, the number of a set twice and 1 where tickets can be had: 1 where it has any of these tags, or tags do not matter
   * since there are none; null where no set has. Looks at no set but those.
   */
  matching(tags: readonly string[], available: boolean): Uint8Array | null {
    const marks = new Uint8Array(this.#members.length * 2)
    if (tags.length === 0) {
      for (let mark = available ? 1 : 0; mark < marks.length; mark += available ? 2 : 1) marks[mark] = 1
      return marks
    }
    const words = this.wordsOf(tags)
    for (const word of words) {
      const holders = this.#holders[word] ?? NONE
      for (const set of typeof holders === 'number' ? [holders] : holders) {
        marks[set * 2 + 1] = 1
        if (!available) marks[set * 2] = 1
      }
    }
    return words.length === 0 ? null : marks
  }
}

/** No set. */
const NONE = -1

/** Numbers for texts while they are held; those let go are given again. */
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

  /** Whether that was the last one. */
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
