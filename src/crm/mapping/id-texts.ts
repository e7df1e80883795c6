import type { Guid } from '../../domain/guid.ts'

/** An id as the CRM writes it, and the rows that contain it. */
interface IdText {
  readonly text: string
  /** The locations of some of these rows, by row id. */
  readonly rows: Map<Guid, string>
}

const MOST_TEXTS = 10_000
const MOST_PLACES = 10
const LONGEST = 80

/**
 * Venue ids as the CRM writes them: the rows' own ids in the list of venues, the ids of their venues in the list of
 * events.
 */
export class IdTexts extends Map<Guid, IdText> {
  /** The CRM's name for the column. */
  column = ''

  note(id: Guid, textOf: () => string | null, row: Guid, where: () => string): void {
    let known = this.get(id)
    if (known === undefined) {
      const text = this.size < MOST_TEXTS ? textOf() : null
      if (text === null) return
      known = { text: text.length > LONGEST ? `${text.slice(0, LONGEST - 1).toWellFormed()}…` : text, rows: new Map() }
      this.set(id, known)
    }
    const { rows } = known
    if (rows.size < MOST_PLACES || rows.has(row)) rows.set(row, where())
  }
}
