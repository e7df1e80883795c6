import { unpackTags } from './packing.ts'

/** What a set, and a word, take roughly, with their place in a map. */
const SET_BYTES = 200
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

  get sizeBytes(): number {
    return this.#sets.size * SET_BYTES + this.#words.size * WORD_BYTES
  }

  /** The number of the set of these tags, as they are packed, held once more until `release`. */
  hold(packed: string): number {
    const set = this.#sets.hold(packed)
    if (this.#sets.uses(set) === 1) {
      const words = new Set(unpackTags(packed).map(foldTag))
      this.#members[set] = Array.from(words, (word) => this.#words.hold(word))
    }
    return set
  }

  release(set: number): void {
    if (this.#sets.release(set)) for (const word of this.#members[set] ?? []) this.#words.release(word)
  }

  /** The numbers of the words of a set. */
  membersOf(set: number): readonly number[] {
    return this.#members[set] ?? []
  }

  /** The numbers of those of these tags that any row has. */
  wordsOf(tags: readonly string[]): readonly number[] {
    return tags.map((tag) => this.#words.find(foldTag(tag))).filter((word) => word !== undefined)
  }

  /** By mark, the number of a set twice and 1 where tickets can be had: 1 where it fits; null where none does. */
  matching(tags: readonly string[], available: boolean): Uint8Array | null {
    const marks = new Uint8Array(this.#members.length * 2)
    for (const set of tags.length === 0 ? this.#members.keys() : this.#withAny(tags)) {
      marks[set * 2 + 1] = 1
      if (!available) marks[set * 2] = 1
    }
    return marks.includes(1) ? marks : null
  }

  *#withAny(tags: readonly string[]): Generator<number, void> {
    const wanted = new Set(this.wordsOf(tags))
    if (wanted.size === 0) return
    for (const [set, words] of this.#members.entries()) {
      if (words.some((word) => wanted.has(word))) yield set
    }
  }
}

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
