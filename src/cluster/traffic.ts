import type { StoredEntry } from './store.ts'

export type Direction = 'written' | 'read'

const KINDS = ['claim', 'rows', 'read', 'heartbeat', 'leave'] as const
const DIRECTIONS: readonly Direction[] = ['written', 'read']

/** What went to the store and came back, counted. */
export class Traffic {
  readonly entries: readonly { readonly kind: string; readonly direction: Direction; count: number }[] = KINDS.flatMap(
    (kind) => DIRECTIONS.map((direction) => ({ kind, direction, count: 0 })),
  )
  readonly bytes: Record<Direction, number> = { written: 0, read: 0 }
  /** Claims that were seen, each an epoch of its own. */
  epochs = 0
  #topTerm = 0

  count({ id, h, b }: StoredEntry, direction: Direction): void {
    this.bytes[direction] += h.length + (b?.length ?? 0)
    // As it is written (entries.ts): nothing else is read of a head that nobody has verified.
    const kind = /^\{"kind":"(\w{1,9})"/.exec(h)?.[1] ?? ''
    const counted = this.entries.find((one) => one.kind === kind && one.direction === direction)
    if (counted === undefined) return
    counted.count++
    const epoch = Number(id.split('-')[0])
    if (kind !== 'claim' || epoch <= this.#topTerm) return
    this.#topTerm = epoch
    this.epochs++
  }
}
