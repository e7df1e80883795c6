import type { Freshness } from '../sync/freshness.ts'
import type { ServedList, ToldList } from '../sync/held-lists.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Shrunk } from '../sync/shrink-guard.ts'
import type { Moment } from '../time/time.ts'

/** One list as it is served now. Holders of this object follow a cut-over without noticing it. */
export class CurrentList<Item> implements ToldList<Item> {
  readonly hasOwnAvailability: boolean
  readonly #served: () => ServedList<Item>

  constructor(served: () => ServedList<Item>, hasOwnAvailability: boolean) {
    this.#served = served
    this.hasOwnAvailability = hasOwnAvailability
  }

  get list(): RecordList<Item> {
    return this.#served().list
  }

  get isFailing(): boolean {
    return this.#served().isFailing
  }

  get isBackingOff(): boolean {
    return this.#served().isBackingOff
  }

  get nextTryInMs(): number {
    return this.#served().nextTryInMs
  }

  ageMs(now: Moment): number | null {
    return this.#served().ageMs(now)
  }

  isConfirmedSince(moment: Moment): boolean {
    return this.#served().isConfirmedSince(moment)
  }

  readOnce(): Promise<void> {
    return this.#served().readOnce()
  }

  get freshness(): Freshness {
    return this.#served().freshness
  }

  get nextReadInMs(): number {
    return this.#served().nextReadInMs
  }

  get lastFailure(): ToldList<Item>['lastFailure'] {
    return this.#served().lastFailure
  }

  get shrunk(): Shrunk | null {
    return this.#served().shrunk
  }

  get isLoaded(): boolean {
    return this.#served().isLoaded
  }

  get loadedAtMs(): number {
    return this.#served().loadedAtMs
  }

  get unidentifiedCounts(): ArrayLike<number> {
    return this.#served().unidentifiedCounts
  }

  get drift(): ToldList<Item>['drift'] {
    return this.#served().drift
  }
}
