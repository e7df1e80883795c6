/** The owner of an entry: a suspended machine delays its own entries, the world goes on without it. */
export type Whose = 'machine' | 'world'

export interface Entry {
  at: number
  readonly order: number
  readonly whose: Whose
  /** `null` if the entry was cancelled. */
  run: (() => void) | null
}

/** Future events, earliest first: a binary heap with ties in the order of entry. */
export class Agenda {
  #heap: Entry[] = []
  #order = 0

  add(at: number, whose: Whose, run: () => void): Entry {
    const entry: Entry = { at, order: this.#order++, whose, run }
    this.#heap.push(entry)
    this.#rise(this.#heap.length - 1)
    return entry
  }

  /** Returns the next entry that was not cancelled; `null` if none is left. */
  next(): Entry | null {
    for (;;) {
      const top = this.#heap[0]
      const last = this.#heap.pop()
      if (top === undefined || last === undefined) return null
      if (this.#heap.length > 0) {
        this.#heap[0] = last
        this.#sink()
      }
      if (top.run !== null) return top
    }
  }

  /** Delays all entries of the machine. */
  delay(ms: number): void {
    const entries = this.#heap
    this.#heap = []
    for (const entry of entries) {
      if (entry.whose === 'machine') entry.at += ms
      this.#heap.push(entry)
      this.#rise(this.#heap.length - 1)
    }
  }

  #rise(from: number): void {
    for (let child = from; child > 0;) {
      const parent = (child - 1) >> 1
      if (!this.#swapIfEarlier(child, parent)) return
      child = parent
    }
  }

  #sink(): void {
    for (let parent = 0; ;) {
      const left = parent * 2 + 1
      const right = left + 1
      const child = isEarlier(this.#heap[right], this.#heap[left]) ? right : left
      if (!this.#swapIfEarlier(child, parent)) return
      parent = child
    }
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const [lower, upper] = [this.#heap[child], this.#heap[parent]]
    if (lower === undefined || upper === undefined || !isEarlier(lower, upper)) return false
    this.#heap[child] = upper
    this.#heap[parent] = lower
    return true
  }
}

function isEarlier(left: Entry | undefined, right: Entry | undefined): boolean {
  if (left === undefined || right === undefined) return false
  return left.at < right.at || (left.at === right.at && left.order < right.order)
}
