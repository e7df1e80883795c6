import type { Freshness } from '../replica/freshness.ts'
import type { ToldList } from '../replica/held-lists.ts'
import { ListReplica } from '../replica/list-replica.ts'
import type { RecordList } from '../replica/record-list.ts'
import type { Moment } from '../replica/time.ts'
import type { HeldList } from '../replica/held-lists.ts'
import { FollowedList } from './followed-list.ts'

const NO_DRIFT: ToldList<unknown>['drift'] = { records: 0, byColumn: new Map() }

/**
 * One list as it is served now, though another may take its place: who keeps this, or waits for it, has the one that is current
 * each time. Of a list that is followed it says what the reader told.
 */
export class CurrentList<Item> implements ToldList<Item> {
  readonly hasOwnAvailability: boolean
  readonly #served: () => HeldList<Item>
  #loaded: { readonly list: RecordList<Item>; readonly atMs: number } | null = null

  constructor(served: () => HeldList<Item>, hasOwnAvailability: boolean) {
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
    return this.#kind.freshness
  }

  get nextReadInMs(): number {
    return this.#kind.nextReadInMs
  }

  get lastFailure(): { readonly message: string } | null {
    const current = this.#kind
    if (current instanceof ListReplica) return current.lastFailure
    const message = current.state.braked ?? current.state.lastError
    return message === null ? null : { message }
  }

  get braked(): boolean {
    const current = this.#kind
    return current instanceof ListReplica ? current.braked : current.state.braked !== null
  }

  get isLoaded(): boolean {
    const current = this.#kind
    return current instanceof ListReplica ? current.isLoaded : current.isReached && current.state.whole
  }

  /** Of a list that is followed: when its base was loaded, since no row has been as it is for longer. */
  get loadedAtMs(): number {
    const current = this.#kind
    if (current instanceof ListReplica) return current.loadedAtMs
    if (!this.isLoaded) return Number.POSITIVE_INFINITY
    const { list } = current
    if (this.#loaded?.list !== list) this.#loaded = { list, atMs: earliestChange(list) }
    return this.#loaded.atMs
  }

  get extraCounts(): ArrayLike<number> {
    const current = this.#kind
    return current instanceof ListReplica ? current.extraCounts : current.state.extras
  }

  /** What its reader found is that one's to tell. */
  get drift(): ToldList<Item>['drift'] {
    const current = this.#kind
    return current instanceof ListReplica ? current.drift : NO_DRIFT
  }

  get #kind(): ListReplica<Item> | FollowedList<Item> {
    const served = this.#served()
    if (isRead(served) || isFollowed(served)) return served
    throw new Error('a list is neither read here nor followed')
  }
}

function isRead<Item>(served: HeldList<Item>): served is ListReplica<Item> {
  return served instanceof ListReplica
}

function isFollowed<Item>(served: HeldList<Item>): served is FollowedList<Item> {
  return served instanceof FollowedList
}

function earliestChange<Item>({ shards }: RecordList<Item>): number {
  let earliestMs = Number.POSITIVE_INFINITY
  for (const { slots, changedAt } of shards) {
    for (let slot = 0; slot < slots; slot++) earliestMs = Math.min(earliestMs, changedAt[slot] ?? earliestMs)
  }
  return earliestMs
}
