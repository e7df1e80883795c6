import type { ListName } from '../domain/field.ts'
import type { WithheldFault } from '../domain/withheld.ts'
import type { WithheldRow } from '../replica/packed-withheld.ts'
import { withheldWords } from './withheld.ts'

const FAULTS: readonly WithheldFault[] = ['inactive', 'not-shown', 'missing', 'unreadable', 'no-id', 'duplicate-id']

export interface WithheldQuery {
  readonly list: ListName
  /** All of these words must be in the row's id, place, column or reason; in lower case. */
  readonly words: readonly string[]
  /** Null for any. */
  readonly fault: WithheldFault | null
  readonly offset: number
}

interface ShownRow {
  readonly id: string | null
  readonly where: string
  readonly fault: WithheldFault
  readonly reason: string
  readonly remedy: string
}

export interface WithheldPage {
  readonly list: ListName
  /** All withheld rows of the list, and those that the query is about. */
  readonly total: number
  readonly matching: number
  readonly offset: number
  readonly rows: readonly ShownRow[]
}

const PAGE_ROWS = 100
const LONGEST_TEXT = 200
const MOST_SEARCHES = 8
/** Rows between two pauses, a batch more or less: a search must not be felt by the public side. */
const SLICE_ROWS = 500

/** Reads a query; null where it is malformed. */
export function withheldQuery(given: (name: string) => string | undefined): WithheldQuery | null {
  const list = given('list') ?? 'events'
  const offset = given('offset') ?? '0'
  const fault = FAULTS.find((known) => known === given('reason')) ?? null
  if ((list !== 'events' && list !== 'venues') || !/^\d{1,9}$/.test(offset)) return null
  if (fault === null && (given('reason') ?? '') !== '') return null
  const words = (given('q') ?? '').slice(0, LONGEST_TEXT).toLowerCase().split(/\s+/)
  return { list, words: words.filter((word) => word !== ''), fault, offset: Number(offset) }
}

/** Searches the withheld rows: one search at a time, in slices between which requests pass. */
export class WithheldSearch {
  readonly #batchesOf: (list: ListName) => Iterable<readonly WithheldRow[]>
  readonly #pause: () => Promise<void>
  #last: Promise<unknown> = Promise.resolve()
  #searches = 0

  /** The rows of a batch are looked at without a pause. */
  constructor(batchesOf: (list: ListName) => Iterable<readonly WithheldRow[]>, pause: () => Promise<void>) {
    this.#batchesOf = batchesOf
    this.#pause = pause
  }

  /** Null where too many wait already. */
  async search(query: WithheldQuery, signal: AbortSignal): Promise<WithheldPage | null> {
    if (this.#searches >= MOST_SEARCHES) return null
    this.#searches++
    const search = this.#last.then(() => this.#run(query, signal))
    this.#last = search.catch(() => {})
    try {
      return await search
    } finally {
      this.#searches--
    }
  }

  async #run({ list, words, fault, offset }: WithheldQuery, signal: AbortSignal): Promise<WithheldPage> {
    const rows: ShownRow[] = []
    let [total, matching, sincePause] = [0, 0, 0]
    for (const batch of this.#batchesOf(list)) {
      for (const row of batch) {
        if ((fault !== null && row.withheld.fault !== fault) || !holdsAll(row, words)) continue
        if (matching >= offset && rows.length < PAGE_ROWS) rows.push(shown(row))
        matching++
      }
      total += batch.length
      sincePause += batch.length
      if (sincePause < SLICE_ROWS) continue
      sincePause = 0
      await this.#pause()
      if (signal.aborted) break
    }
    return { list, total, matching, offset, rows }
  }
}

function holdsAll(row: WithheldRow, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const { id, where, reason } = shown(row)
  const text = `${id ?? ''} ${where} ${reason}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

function shown({ id, withheld }: WithheldRow): ShownRow {
  return { id, where: withheld.where, fault: withheld.fault, ...withheldWords(withheld) }
}
