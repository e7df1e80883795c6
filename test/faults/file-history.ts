import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chance } from '../model/chance.ts'
import { guidOf } from '../model/records.ts'
import type { RowHistory } from '../support/row-history.ts'

export type ListName = 'events' | 'venues'

export const IDS: { readonly [Kind in 'constant' | 'fickle']: readonly string[] } = {
  /** Never withdrawn. */
  constant: [1, 2, 3, 4, 5, 6].map(guidOf),
  /** There in some versions only. */
  fickle: [11, 12, 13, 14].map(guidOf),
}

const ALL: readonly string[] = [...IDS.constant, ...IDS.fickle]

/** What no answer shows: the file cannot be read. */
const UNREADABLE = -1

/** How the history calls a record: both lists have the same ids. */
export function rowOf(list: ListName, id: string): string {
  return `${list} ${id}`
}

/**
 * One list of a files CRM that is changed and harmed at random. It tells the history the number of the version in which
 * each record stands.
 */
export class FileHistory {
  readonly list: ListName
  versions = 0
  faults = 0
  readonly #directory: string
  readonly #chance: Chance
  readonly #history: RowHistory
  #changes = 0
  /** The file holds the last version, whole. */
  #whole = false

  constructor(list: ListName, directory: string, chance: Chance, history: RowHistory) {
    this.list = list
    this.#directory = directory
    this.#chance = chance
    this.#history = history
    mkdirSync(directory, { recursive: true })
    this.replace()
  }

  get #path(): string {
    return join(this.#directory, `${this.list}.json`)
  }

  /** Whatever comes to the mind of an export job. */
  change(): void {
    // Every third time, so that short runs have their share too.
    if (++this.#changes % 3 === 0) this.harm()
    else if (this.#chance.happens(0.6)) this.replace()
    else this.rewrite()
  }

  /** The next version in one go. */
  replace(): void {
    this.#next((text) => {
      const next = join(this.#directory, `.${this.list}.next`)
      writeFileSync(next, text)
      if (!this.#whole) this.#clear()
      renameSync(next, this.#path)
    })
  }

  /** The next version in place: who looks meanwhile sees half of it. */
  rewrite(): void {
    this.#next((text) => {
      if (!this.#whole) this.#clear()
      writeFileSync(this.#path, text)
    })
  }

  /** Nothing that can be read is there until the next version. */
  harm(): void {
    this.faults++
    const kind = this.#whole ? this.#chance.below(5) : 1 + this.#chance.below(4)
    this.#become(
      () => UNREADABLE,
      () => {
        // Cut short, and so no longer JSON.
        if (kind === 0) return truncateSync(this.#path, 100)
        this.#clear()
        if (kind === 1) writeFileSync(this.#path, '[{"Id": "')
        if (kind === 2) writeFileSync(this.#path, '')
        if (kind === 4) mkdirSync(this.#path)
      },
    )
    this.#whole = false
  }

  #clear(): void {
    rmSync(this.#path, { recursive: true, force: true })
  }

  #next(put: (text: string) => void): void {
    const number = ++this.versions
    const there = [...IDS.constant, ...IDS.fickle.filter(() => this.#chance.below(2) === 0)]
    this.#become(
      (id) => (there.includes(id) ? number : null),
      () => put(JSON.stringify(there.map((id) => this.#row(id, number)))),
    )
    this.#whole = true
  }

  #become(valueOf: (id: string) => number | null, change: () => void): void {
    const rows = ALL.map((id) => ({ id: rowOf(this.list, id), value: valueOf(id) }))
    for (const row of rows) this.#history.begin({ ...row, atMs: performance.now() })
    change()
    for (const { id } of rows) this.#history.end({ id, atMs: performance.now() })
  }

  #row(Id: string, number: number): object {
    const Name = `version ${number}`
    // The last field of the row says the same: an answer that mixes two versions shows it.
    if (this.list === 'venues') return { Id, Name, AddressCity: Name, Website: Name, Active: true }
    const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
    return { Id, Name, ...times, VenueId: IDS.constant[0], Tags: [Name], TicketCapacity: number, ShowOnWeb: true }
  }
}
