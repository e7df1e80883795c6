import type { ToldList } from '../replica/held-lists.ts'
import { ListReplica } from '../replica/list-replica.ts'
import type { Freshness } from '../replica/freshness.ts'
import type { RecordList } from '../replica/record-list.ts'
import type { Moment } from '../replica/time.ts'
import type { ServedList } from './followed-list.ts'
import { FollowedList } from './followed-list.ts'

const NO_DRIFT: ToldList<unknown>['drift'] = { records: 0, byColumn: new Map() }

/** What operators are told of a list that is followed: what its reader told. */
class FollowedTold<Item> implements ToldList<Item> {
  readonly hasOwnAvailability: boolean
  /** What it found is its reader's to tell. */
  readonly drift: ToldList<Item>['drift'] = NO_DRIFT
  readonly #followed: FollowedList<Item>
  #loadedAtMs: number | null = null

  constructor(followed: FollowedList<Item>, hasOwnAvailability: boolean) {
    this.#followed = followed
    this.hasOwnAvailability = hasOwnAvailability
  }

  get list(): RecordList<Item> {
    return this.#followed.list
  }

  get freshness(): Freshness {
    return this.#followed.freshness
  }

  get isFailing(): boolean {
    return this.#followed.isFailing
  }

  get isBackingOff(): boolean {
    return this.#followed.isBackingOff
  }

  get nextTryInMs(): number {
    return this.#followed.nextTryInMs
  }

  get nextReadInMs(): number {
    return this.#followed.nextReadInMs
  }

  get lastFailure(): { readonly message: string } | null {
    const message = this.#followed.state.braked ?? this.#followed.state.lastError
    return message === null ? null : { message }
  }

  get braked(): boolean {
    return this.#followed.state.braked !== null
  }

  get isLoaded(): boolean {
    return this.#followed.isReached && this.#followed.state.whole
  }

  /** When its base was loaded: no row has been as it is for longer. */
  get loadedAtMs(): number {
    if (!this.isLoaded) return Number.POSITIVE_INFINITY
    return (this.#loadedAtMs ??= earliestChange(this.list))
  }

  get extraCounts(): readonly number[] {
    return this.#followed.state.extras
  }

  ageMs(now: Moment): number | null {
    return this.#followed.ageMs(now)
  }

  isConfirmedSince(moment: Moment): boolean {
    return this.#followed.isConfirmedSince(moment)
  }

  readOnce(): Promise<void> {
    return this.#followed.readOnce()
  }
}

function isRead<Item>(served: ServedList<Item>): served is ListReplica<Item> {
  return served instanceof ListReplica
}

function isFollowed<Item>(served: ServedList<Item>): served is FollowedList<Item> {
  return served instanceof FollowedList
}

/** What operators are told of whichever list takes the other's place, each made once. */
export class Views<Item> {
  readonly #hasOwnAvailability: boolean
  #last: { readonly of: ServedList<Item>; readonly view: ToldList<Item> } | null = null

  constructor(hasOwnAvailability: boolean) {
    this.#hasOwnAvailability = hasOwnAvailability
  }

  of(served: ServedList<Item>): ToldList<Item> {
    if (isRead(served)) return served
    if (this.#last?.of === served) return this.#last.view
    if (!isFollowed(served)) throw new Error('a list is neither read here nor followed')
    const view = new FollowedTold<Item>(served, this.#hasOwnAvailability)
    this.#last = { of: served, view }
    return view
  }
}

function earliestChange<Item>({ shards }: RecordList<Item>): number {
  let earliestMs = Number.POSITIVE_INFINITY
  for (const { slots, changedAt } of shards) {
    for (let slot = 0; slot < slots; slot++) earliestMs = Math.min(earliestMs, changedAt[slot] ?? earliestMs)
  }
  return earliestMs
}
