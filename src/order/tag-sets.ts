import { unpackTags } from '../records/packing.ts'

/** What a set, and a word, take roughly, with their place in a map. */
const SET_BYTES = 300
const WORD_BYTES = 160
const MOST_HOLDERS = 10_000

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

  readonly #mostHolders: number

  /** Where more sets than so many have what is asked, only those are looked at that are met: a page has soon enough of them. */
  constructor(mostHolders: number = MOST_HOLDERS) {
    this.#mostHolders = mostHolders
  }

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

  /** The marks that have any of these tags, or all where there are none, with tickets to be had where that is asked; null where none has. */
  matching(tags: readonly string[], available: boolean): FittingNonces | null {
    const fits = new Uint8Array(this.#members.length * 2)
    if (tags.length === 0) {
      for (let mark = available ? 1 : 0; mark < fits.length; mark += available ? 2 : 1) fits[mark] = 1
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

  #settling(fits: Uint8Array, words: readonly number[], available: boolean): FittingNonces['settle'] {
    const isWanted = new Uint8Array(this.#holders.length)
    for (const word of words) isWanted[word] = 1
    return (marks, from, until) => {
      for (let at = from; at < until; at++) {
        const mark = marks[at] ?? 0
        if (fits[mark] !== UNKNOWN) continue
        const hasTickets = !available || (mark & 1) === 1
        fits[mark] = hasTickets && this.membersOf(mark >>> 1).some((word) => isWanted[word] === 1) ? 1 : 0
      }
    }
  }
}

/** By mark, the number of a set twice and 1 where tickets can be had: 1 where it fits. */
export interface FittingNonces {
  readonly fits: Uint8Array
  /** Null, or what has to be told of marks before they are looked at: whether those from one place to another fit. */
  readonly settle: ((marks: Uint32Array, from: number, until: number) => void) | null
}

/** What a mark has until it is settled. */
const UNKNOWN = 2

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
