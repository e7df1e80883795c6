import type { Guid } from '../domain/guid.ts'

interface KeptText {
  readonly packed: string
  readonly beside: string
  readonly text: string
}

/**
 * Keeps texts that were made of records until these records change. A calendar is written again after every change of
 * the lists, although nearly all of its events are unchanged.
 */
export class KeptTexts {
  readonly #most: number
  #texts = new Map<Guid, KeptText>()
  #length = 0

  /** @param most how many UTF-16 code units of records and texts are kept */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Returns the text of a record, made by `make` unless it is kept; `null` if there is none.
   * @param packed the record
   * @param beside what else the text is made of
   */
  of(id: Guid, packed: string, beside: string, make: () => string | null): string | null {
    const kept = this.#texts.get(id)
    if (kept !== undefined && kept.packed === packed && kept.beside === beside) return kept.text
    const text = make()
    if (text === null) return null
    if (kept !== undefined) this.#length -= lengthOf(kept)
    const made = { packed, beside, text }
    this.#length += lengthOf(made)
    this.#texts.set(id, made)
    // All texts are dropped at once: those still in use are made again once, and no order has to be tracked.
    if (this.#length > this.#most) {
      this.#texts = new Map()
      this.#length = 0
    }
    return text
  }
}

/** `beside` is not counted: many records share it. */
function lengthOf({ packed, text }: KeptText): number {
  return packed.length + text.length
}
