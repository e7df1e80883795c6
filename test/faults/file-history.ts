import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chance } from '../model/chance.ts'
import { guidOf } from '../model/records.ts'

export type ListName = 'events' | 'venues'

export const IDS: { readonly [Kind in 'constant' | 'fickle']: readonly string[] } = {
  /** Never withdrawn. */
  constant: [1, 2, 3, 4, 5, 6].map(guidOf),
  /** There in some versions only. */
  fickle: [11, 12, 13, 14].map(guidOf),
}

/** A version of a list as it lay in the file: from when at the earliest, and until when at the latest. */
export interface Version {
  readonly number: number
  readonly fickle: ReadonlySet<string>
  readonly fromMs: number
  /** Infinity while it is there, or may be read. */
  untilMs: number
}

/**
 * One list of a files CRM that is changed and harmed at random, and what was true when. Times are of
 * `performance.now()`.
 */
export class FileHistory {
  readonly list: ListName
  readonly versions: Version[] = []
  faults = 0
  readonly #directory: string
  readonly #chance: Chance
  #changes = 0
  /** The file holds the last version, whole. */
  #whole = false

  constructor(list: ListName, directory: string, chance: Chance) {
    this.list = list
    this.#directory = directory
    this.#chance = chance
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
    const current = this.versions.at(-1)
    switch (this.#whole ? this.#chance.below(5) : 1 + this.#chance.below(4)) {
      case 0:
        // Cut short, and so no longer JSON.
        truncateSync(this.#path, 100)
        break
      case 1:
        this.#clear()
        writeFileSync(this.#path, '[{"Id": "')
        break
      case 2:
        this.#clear()
        writeFileSync(this.#path, '')
        break
      case 3:
        this.#clear()
        break
      default:
        this.#clear()
        mkdirSync(this.#path)
    }
    this.#whole = false
    if (current !== undefined) current.untilMs = Math.min(current.untilMs, performance.now())
  }

  #clear(): void {
    rmSync(this.#path, { recursive: true, force: true })
  }

  #next(put: (text: string) => void): void {
    const number = this.versions.length + 1
    const fickle = new Set(IDS.fickle.filter(() => this.#chance.below(2) === 0))
    const version: Version = { number, fickle, fromMs: performance.now(), untilMs: Number.POSITIVE_INFINITY }
    const before = this.versions.at(-1)
    put(JSON.stringify([...IDS.constant, ...fickle].map((id) => this.#row(id, number))))
    this.#whole = true
    if (before !== undefined) before.untilMs = Math.min(before.untilMs, performance.now())
    this.versions.push(version)
  }

  #row(Id: string, number: number): object {
    const Name = `version ${number}`
    // The last field of the row says the same: an answer that mixes two versions shows it.
    if (this.list === 'venues') return { Id, Name, AddressCity: Name, Website: Name, Active: true }
    const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
    return { Id, Name, ...times, VenueId: IDS.constant[0], Tags: [Name], TicketCapacity: number, ShowOnWeb: true }
  }
}
