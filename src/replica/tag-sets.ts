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

  /** The number of the set of these tags, held once more until `release`. */
  hold(tags: readonly string[]): number {
    const words = [...new Set(tags.map(foldTag))].toSorted()
    // A length before each: no two sets share a key, whatever the words hold.
    const key = words.map((word) => `${word.length}:${word}`).join('')
    const set = this.#sets.hold(key)
    if (this.#sets.uses(set) === 1) this.#members[set] = words.map((word) => this.#words.hold(word))
    return set
  }

  release(set: number): void {
    if (this.#sets.release(set)) for (const word of this.#members[set] ?? []) this.#words.release(word)
  }

  /** By number, 1 for each set that holds any of these tags; null where none does. */
  matching(tags: readonly string[]): Uint8Array | null {
    const wanted = new Set<number>()
    for (const tag of tags) {
      const word = this.#words.find(foldTag(tag))
      if (word !== undefined) wanted.add(word)
    }
    if (wanted.size === 0) return null
    const matches = new Uint8Array(this.#members.length)
    for (const [set, words] of this.#members.entries()) {
      for (const word of words) if (wanted.has(word)) matches[set] = 1
    }
    return matches
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
