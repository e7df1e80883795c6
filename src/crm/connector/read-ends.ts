import type { Guid } from '../../domain/guid.ts'
import { type OnBatch, type ReadParts, Tally, deletionsOf, pagesOf } from './row-pages.ts'
import type { LookBack } from './stamps.ts'

export const COMPLETE = {
  ok: true,
  complete: true,
  oneMoment: false,
  unchanged: false,
  asOf: null,
  confirms: true,
} as const
/** The result of a read by `updatedAt`. It cannot report deletions, so it does not confirm the list. */
export const PARTIAL = { ...COMPLETE, complete: false, confirms: false } as const
export const REPORTED = { ...COMPLETE, complete: false } as const

export const UNCLEAR = 'the list is read in full, because a changed row is too large, or has no usable id of its own'

export function changesIn<Item extends { readonly Id: Guid }>(
  parts: ReadParts<Item>,
  stamps: LookBack | null,
  tally: Tally = new Tally(),
): OnBatch<Item> {
  return async function* (batch) {
    const broken = yield* pagesOf(batch, parts, { tally, stamps })
    if (broken !== null) return broken
    for (const page of deletionsOf(batch, parts)) {
      for (const { id } of page.changes) if (id !== null) tally.ids.add(id)
      yield page
    }
    return null
  }
}
