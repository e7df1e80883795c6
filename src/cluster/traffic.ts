import type { StoredEntry } from './store.ts'

export type Direction = 'written' | 'read'

const KINDS = ['claim', 'rows', 'read', 'heartbeat', 'leave'] as const
const DIRECTIONS: readonly Direction[] = ['written', 'read']

/** Counts the entries and bytes that are written to the store and read from it. */
export class Traffic {
  readonly entries: readonly { readonly kind: string; readonly direction: Direction; count: number }[] = KINDS.flatMap(
    (kind) => DIRECTIONS.map((direction) => ({ kind, direction, count: 0 })),
  )
  readonly bytes: Record<Direction, number> = { written: 0, read: 0 }
  /** The number of claims seen; each has its own epoch. */
  epochs = 0
  #topTerm = 0

  count({ id, h, b }: StoredEntry, direction: Direction): void {
    this.bytes[direction] += h.length + (b?.length ?? 0)
    // The kind is at a fixed position (entries.ts): nothing else of an unverified head is read.
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
