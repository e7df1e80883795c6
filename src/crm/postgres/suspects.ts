import type { Guid } from '../../domain/guid.ts'
import type { Held } from '../../sync/port.ts'

/** The payload of a notification about more rows than it can name. */
const ALL = '*'
const MOST = 1000

// Types with only one text form per value. A notification may write an id of another type differently than the table
// does, and the row would then seem deleted.
const PLAIN_TYPES: ReadonlySet<string> = new Set(['uuid', 'smallint', 'integer', 'bigint'])

export interface Suspects {
  readonly ids: ReadonlySet<string>
  /** Whether any row may be gone, so all rows must be checked. */
  readonly ofAll: boolean
}

export const NO_SUSPECTS: Suspects = { ids: new Set(), ofAll: false }

/** Collects the ids that notifications name: rows that may be gone. They are only a hint to look. */
export class SuspectQueue {
  #ids = new Set<string>()
  #ofAll = false

  /** Adds ids separated by commas, or `*` for too many; other texts match no row. */
  add(payload: string): void {
    if (payload === '') return
    if (payload === ALL) this.#ofAll = true
    else for (const id of payload.split(',')) this.#ids.add(id.trim())
    this.#limit()
  }

  /** Takes all suspects collected so far, to be checked in a transaction that begins later. */
  take(): Suspects {
    const taken = { ids: this.#ids, ofAll: this.#ofAll }
    this.#ids = new Set()
    this.#ofAll = false
    return taken
  }

  /** Returns suspects that were not checked after all. */
  giveBack({ ids, ofAll }: Suspects): void {
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

/**
 * Returns the suspects that are rows of this list, by id. `hasOthers`: some of them cannot be looked up in the table,
 * because a value of their type can be written in several ways.
 */
export function heldOf(
  { ids }: Suspects,
  held: Held,
  idOf: (text: string) => Guid | null,
  type: string,
): { readonly wanted: ReadonlyMap<Guid, string>; readonly hasOthers: boolean } {
  const wanted = new Map<Guid, string>()
  let hasOthers = false
  for (const text of ids) {
    const id = idOf(text)
    // The id is not in this list.
    if (id === null || Number.isNaN(held.version(id))) continue
    if (isPlain(text, type)) wanted.set(id, text)
    else hasOthers = true
  }
  return { wanted, hasOthers }
}

function isPlain(text: string, type: string): boolean {
  return PLAIN_TYPES.has(type) && (type === 'uuid' ? /^[0-9a-f-]{36}$/i : /^-?\d{1,18}$/).test(text)
}
