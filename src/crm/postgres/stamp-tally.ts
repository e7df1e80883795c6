import type { Position } from './cursor.ts'
import { newestOf, positionAfter } from './cursor.ts'
import type { Snapshot } from './read-session.ts'
import { microsOf } from './stamp.ts'

/** The stamps that one read came across, by the clock that its server showed first. */
export class StampTally {
  #first: Snapshot | null = null
  #newest = 0
  #rows = 0

  add(rows: readonly { readonly version: number }[], snapshot: Snapshot | null): void {
    this.#first ??= snapshot
    const serverNow = this.#serverNow
    for (const { version } of rows) this.#newest = newestOf(this.#newest, version, serverNow)
    this.#rows += rows.length
  }

  /** How far the changes are known now that were known as far as `before`. */
  positionAfter(before: Position | null): Position {
    const server = this.#first?.server ?? ''
    return positionAfter(before, { server, newest: this.#newest, rows: this.#rows, serverNow: this.#serverNow })
  }

  get #serverNow(): number {
    return microsOf(this.#first?.serverNow ?? null)
  }
}
