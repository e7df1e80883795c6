import type { Guid } from '../../domain/guid.ts'
import type { Held } from '../../sync/port.ts'

/** What stands for rows that are too many to be named. */
const ALL = '*'
const MOST = 1000

// Types whose values are equal where their meaning is: an id of another type may be written in a way that the table has not,
// and then would not be found though its row is there.
const PLAIN_TYPES: ReadonlySet<string> = new Set(['uuid', 'smallint', 'integer', 'bigint'])

/** Rows that may be gone. */
export interface Suspicion {
  readonly ids: ReadonlySet<string>
  /** All rows have to be looked at, for some that are not named may be gone. */
  readonly ofAll: boolean
}

export const NO_SUSPICION: Suspicion = { ids: new Set(), ofAll: false }

/** Ids that notifications named, of rows that may be gone. They are only looked for: nothing is believed of them. */
export class Suspects {
  #ids = new Set<string>()
  #ofAll = false

  /** Ids between commas, `*` for too many of them; anything else is no id and so of no row. */
  add(payload: string): void {
    if (payload === '') return
    if (payload === ALL) this.#ofAll = true
    else for (const id of payload.split(',')) this.#ids.add(id.trim())
    this.#limit()
  }

  /** What is suspected by now: a transaction that begins later sees what became of it. */
  take(): Suspicion {
    const taken = { ids: this.#ids, ofAll: this.#ofAll }
    this.#ids = new Set()
    this.#ofAll = false
    return taken
  }

  /** It was not looked into after all. */
  giveBack({ ids, ofAll }: Suspicion): void {
    for (const id of ids) this.#ids.add(id)
    if (ofAll) this.#ofAll = true
    this.#limit()
  }

  #limit(): void {
    if (this.#ids.size <= MOST) return
    this.#ids.clear()
    this.#ofAll = true
  }
}

/** Those that are held and so are ids as this table writes them, by their GUID, and whether others cannot be looked for by name. */
export function heldOf(
  { ids }: Suspicion,
  held: Held,
  idOf: (text: string) => Guid | null,
  type: string,
): { readonly wanted: ReadonlyMap<Guid, string>; readonly hasOthers: boolean } {
  const wanted = new Map<Guid, string>()
  let hasOthers = false
  for (const text of ids) {
    const id = idOf(text)
    // None of this list.
    if (id === null || Number.isNaN(held.version(id))) continue
    if (isPlain(text, type)) wanted.set(id, text)
    else hasOthers = true
  }
  return { wanted, hasOthers }
}

function isPlain(text: string, type: string): boolean {
  return PLAIN_TYPES.has(type) && (type === 'uuid' ? /^[0-9a-f-]{36}$/i : /^-?\d{1,18}$/).test(text)
}
