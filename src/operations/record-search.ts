import type { ListName } from '../domain/field.ts'
import type { ToldList, ToldLists } from '../replica/held-lists.ts'
import { SERVED } from '../replica/shard.ts'
import type { Moment } from '../replica/time.ts'
import { SearchTurns } from './search-turns.ts'

/** A record that is served. */
export interface ShownRecord {
  readonly list: ListName
  readonly id: string
  readonly name: string
  /** How long it has been as it is. */
  readonly changedAgoMs: number
}

export interface Found {
  readonly total: number
  /** The first of them. */
  readonly records: readonly ShownRecord[]
}

const MOST_SHOWN = 20
const LONGEST_TEXT = 200
/** Records that are looked at without a pause: a search must not be felt by the public side. */
const SLICE_ROWS = 500
const DAY_MS = 24 * 3_600_000

/** Looks through the records that are served, in slices between which requests pass: nothing is kept for it. */
export class RecordSearch {
  readonly #lists: ToldLists
  readonly #pause: () => Promise<void>
  readonly #turns: SearchTurns

  constructor(lists: ToldLists, pause: () => Promise<void>, turns: SearchTurns = new SearchTurns()) {
    this.#lists = lists
    this.#pause = pause
    this.#turns = turns
  }

  /** Records whose names hold all words, in any case; null where too many search already. */
  byName(text: string, now: Moment, signal: AbortSignal): Promise<Found | null> {
    const words = text
      .slice(0, LONGEST_TEXT)
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const isIt = ({ name }: ShownRecord): boolean => {
      const lower = name.toLowerCase()
      return words.every((word) => lower.includes(word))
    }
    return this.#turns.run(() => this.#find(now, signal, Number.POSITIVE_INFINITY, isIt))
  }

  /** Records that are new or changed since a day ago, those of the first read left out; the newest first. */
  changedLately(now: Moment, signal: AbortSignal): Promise<Found | null> {
    return this.#turns.run(() => this.#find(now, signal, DAY_MS, () => true))
  }

  async #find(
    now: Moment,
    signal: AbortSignal,
    withinMs: number,
    isIt: (record: ShownRecord) => boolean,
  ): Promise<Found> {
    let records: ShownRecord[] = []
    let [total, sincePause] = [0, 0]
    const look = async <Item extends { readonly Name: string | null }>(told: ToldList<Item>): Promise<void> => {
      const { list, loadedAtMs } = told
      const since = withinMs === Number.POSITIVE_INFINITY ? -withinMs : Math.max(now.monotonicMs - withinMs, loadedAtMs)
      for (const shard of list.shards) {
        for (let slot = 0; slot < shard.slots; slot++) {
          const changedAt = shard.changedAt[slot] ?? 0
          if (shard.state[slot] !== SERVED || changedAt <= since) continue
          if (++sincePause === SLICE_ROWS) {
            sincePause = 0
            await this.#pause()
            if (signal.aborted) return
            // It may have gone meanwhile.
            if (shard.state[slot] !== SERVED) continue
          }
          const id = shard.guid(slot)
          const { Name } = list.kind.packing.unpack(id, shard.read(slot))
          const changedAgoMs = Math.max(0, now.monotonicMs - changedAt)
          const record = { list: list.kind.name, id, name: Name ?? '', changedAgoMs }
          if (!isIt(record)) continue
          records.push(record)
          total++
        }
        if (records.length > MOST_SHOWN) records = newest(records)
        await this.#pause()
        if (signal.aborted) return
      }
    }
    await look(this.#lists.events)
    await look(this.#lists.venues)
    return { total, records: newest(records) }
  }
}

function newest(records: readonly ShownRecord[]): ShownRecord[] {
  return records.toSorted((left, right) => left.changedAgoMs - right.changedAgoMs).slice(0, MOST_SHOWN)
}
