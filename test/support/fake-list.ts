import type { RecordList } from '../../src/records/record-list.ts'
import { type ServedList, type Shrunk, Freshness } from '../../src/sync/served-list.ts'
import { type Moment, elapsedMs } from '../../src/time/time.ts'
import type { VirtualTime } from '../model/virtual-time.ts'

/** A list whose reads take `readMs`. Each confirms as of its beginning unless it is told to fail or to prove nothing. */
export class FakeList<Item> implements ServedList<Item> {
  readonly list: RecordList<Item>
  readonly freshness: Freshness = new Freshness()
  readonly drift: ServedList<Item>['drift'] = { records: 0, byColumn: new Map() }
  readonly isLoaded = true
  readonly loadedAtMs = 0
  readonly lastFailure = null
  readonly nextReadInMs = 0
  isFailing = false
  isBackingOff = false
  isLeftBehind = false
  nextTryInMs = 0
  shrunk: Shrunk | null = null
  confirmedAt: Moment | null = null
  reads = 0
  outcome: 'confirms' | 'fails' | 'proves-nothing' = 'confirms'
  running: Promise<void> | null = null
  readMs = 100
  readonly #time: VirtualTime

  constructor(time: VirtualTime, list: RecordList<Item>) {
    this.#time = time
    this.list = list
  }

  ageMs(now: Moment): number | null {
    return this.confirmedAt === null ? null : elapsedMs(this.confirmedAt, now)
  }

  isConfirmedSince(moment: Moment): boolean {
    return this.confirmedAt !== null && this.confirmedAt.monotonicMs >= moment.monotonicMs
  }

  readOnce(): Promise<void> {
    this.running ??= this.#read()
    return this.running
  }

  help(): void {}

  async #read(): Promise<void> {
    this.reads++
    const begun = this.#time.now()
    await new Promise<void>((resolve) => this.#time.after(this.readMs, resolve))
    this.running = null
    this.isFailing = this.isBackingOff = this.outcome === 'fails'
    if (this.outcome === 'confirms') this.confirmedAt = begun
  }
}
