import type { Guid } from '../../domain/guid.ts'

/** What the CRM writes for an id, and where. */
interface IdText {
  readonly text: string
  /** Some of the rows that hold it: where each stood when it was mapped. */
  readonly rows: Map<Guid, string>
}

const MOST_TEXTS = 10_000
const MOST_ROWS = 10
const LONGEST = 80

/** The ids of venues as one list writes them: its own in the venues, those of other rows in the events. */
export class IdTexts {
  /** What the CRM calls their column. */
  column = ''
  readonly #texts = new Map<Guid, IdText>()

  note(id: Guid, textOf: () => string | null, row: Guid, where: () => string): void {
    let known = this.#texts.get(id)
    if (known === undefined) {
      const text = this.#texts.size < MOST_TEXTS ? textOf() : null
      if (text === null) return
      known = { text: text.length > LONGEST ? `${text.slice(0, LONGEST - 1).toWellFormed()}…` : text, rows: new Map() }
      this.#texts.set(id, known)
    }
    const { rows } = known
    if (rows.size < MOST_ROWS || rows.has(row)) rows.set(row, where())
  }

  get(id: Guid): IdText | undefined {
    return this.#texts.get(id)
  }

  forget(id: Guid): void {
    this.#texts.delete(id)
  }

  [Symbol.iterator](): MapIterator<[Guid, IdText]> {
    return this.#texts.entries()
  }
}
