import type { Guid } from '../../domain/guid.ts'
import type { MissingWord } from './table-rows.ts'

const MOST_ROWS = 10_000
const LONGEST_CODE = 20

/** The rows that are shown without a word, because the CRM has none for a code of theirs: for `check` and `explain`. */
export class UnlabelledRows {
  readonly #rows = new Map<Guid, string>()

  note(id: Guid, [first]: readonly MissingWord[]): void {
    if (first === undefined) this.#rows.delete(id)
    else if (this.#rows.has(id) || this.#rows.size < MOST_ROWS) {
      this.#rows.set(id, `${first.code.slice(0, LONGEST_CODE)} in ${first.column}`)
    }
  }

  /** A sentence on one row; null where it lacks nothing, as far as so many can be told apart. */
  remarkOn(id: Guid): string | null {
    const code = this.#rows.get(id)
    if (code !== undefined)
      return `It holds a code that has no label in the CRM, ${code}, and is shown without it: ${REMEDY}.`
    return this.#rows.size < MOST_ROWS
      ? null
      : `More than ${MOST_ROWS} rows hold a code that has no label: it may be one.`
  }

  /** One sentence on all of them, null where there are none. */
  warning(list: string): string | null {
    const [first] = this.#rows
    if (first === undefined) return null
    const [id, code] = first
    const { size } = this.#rows
    const count = `${size}${size < MOST_ROWS ? '' : ' or more'}`
    return `${count} of the ${list}, such as ${id}, hold a code that has no label in the CRM, such as ${code}, and are shown without it: ${REMEDY}`
  }
}

const REMEDY = 'give its option a label again, or take it off the row'
