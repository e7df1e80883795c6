import type { Guid } from '../../domain/guid.ts'
import type { Held } from '../../replica/port.ts'

/** What stands for rows that are too many to be named. */
const ALL = '*'
const MOST = 1000

// Types whose values are equal where their meaning is: an id of another type may be written in a way that the table has not,
// and then would be looked for in vain though its row is there.
const PLAIN_TYPES: ReadonlySet<string> = new Set(['uuid', 'smallint', 'integer', 'bigint'])

/** Ids that notifications named, of rows that may be gone. They are only looked for: nothing is believed of them. */
export class Suspects {
  readonly #ids = new Set<string>()
  /** All rows have to be looked at, for some that were not named may be gone. */
  wantsSweep = false

  /** Ids between commas, `*` for too many of them; anything else is no id and so of no row. */
  add(payload: string): void {
    if (payload === '') return
    if (payload === ALL) this.wantsSweep = true
    else for (const id of payload.split(',')) this.#ids.add(id.trim())
    if (this.#ids.size <= MOST) return
    this.#ids.clear()
    this.wantsSweep = true
  }

  /** Those that are held and so are ids as this table writes them, by their GUID; the others are none of this list. */
  heldOf(held: Held, idOf: (text: string) => Guid | null, type: string): ReadonlyMap<Guid, string> {
    const found = new Map<Guid, string>()
    for (const text of this.#ids) {
      const id = idOf(text)
      if (id === null || Number.isNaN(held.version(id))) this.#ids.delete(text)
      else if (isPlain(text, type)) found.set(id, text)
      else this.wantsSweep = true
    }
    return found
  }

  /** They were looked for. */
  settle(ids: Iterable<string>): void {
    for (const id of ids) this.#ids.delete(id)
  }

  settleAll(): void {
    this.#ids.clear()
    this.wantsSweep = false
  }
}

function isPlain(text: string, type: string): boolean {
  return PLAIN_TYPES.has(type) && (type === 'uuid' ? /^[0-9a-f-]{36}$/i : /^-?\d{1,18}$/).test(text)
}
