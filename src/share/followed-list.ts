import type { Freshness } from '../replica/freshness.ts'
import type { Carried } from '../replica/base.ts'
import type { HeldList } from '../replica/held-lists.ts'
import { PackedRows } from '../replica/packed-withheld.ts'
import { cursorOf } from '../replica/port.ts'
import type { RecordList } from '../replica/record-list.ts'
import type { Moment, Time } from '../replica/time.ts'
import { earlierBy, elapsedMs } from '../replica/time.ts'
import type { Ages, ListState } from './entries.ts'

/** A list that is brought up to date by the log. */
export class FollowedList<Item> implements HeldList<Item> {
  readonly list: RecordList<Item>
  readonly freshness: Freshness
  /** The store cannot be read: nothing will help soon. */
  isLost = false
  /** Its base is complete. */
  isReached = false
  #state: ListState
  #told: Moment
  readonly #time: Time
  readonly #beatMs: number
  #helped = Promise.withResolvers<void>()

  constructor(list: RecordList<Item>, state: ListState, freshness: Freshness, time: Time, beatMs: number) {
    this.list = list
    this.freshness = freshness
    this.#state = state
    this.#time = time
    this.#told = time.now()
    this.#beatMs = beatMs
    list.extras = PackedRows.counted(state.extras)
  }

  get state(): ListState {
    return this.#state
  }

  tell(state: ListState): void {
    this.#state = state
    this.list.extras = PackedRows.counted(state.extras)
    this.#told = this.#time.now()
    if (this.isFailing) this.help()
  }

  confirm(noted: Moment, { details, availability, audited }: Ages): void {
    if (details !== null) this.freshness.confirmDetails(earlierBy(noted, details), 0)
    if (availability !== null) this.freshness.confirmAvailability(earlierBy(noted, availability), 0)
    if (audited !== null) this.freshness.audit(earlierBy(noted, audited), 0)
    this.help()
  }

  /** What a reader goes on from that begins with these rows. */
  get carried(): Carried {
    const { whole, cursor, extras, braked, accepting } = this.#state
    return {
      freshness: this.freshness,
      isLoaded: whole,
      cursor: cursor === null ? null : cursorOf(cursor),
      extras,
      braked,
      accepting,
      firstReadInMs: this.nextReadInMs,
    }
  }

  /** Who waits looks again. */
  help(): void {
    this.#helped.resolve()
    this.#helped = Promise.withResolvers()
  }

  get isFailing(): boolean {
    return this.isLost || this.#state.braked !== null || this.#state.lastError !== null
  }

  get isBackingOff(): boolean {
    return this.isLost || (this.#state.lastError !== null && this.nextReadInMs > 0)
  }

  /** The reader's next try of this list. */
  get nextReadInMs(): number {
    return Math.max(0, this.#state.nextTryMs - elapsedMs(this.#told, this.#time.now()))
  }

  get nextTryInMs(): number {
    return this.nextReadInMs + this.#beatMs
  }

  ageMs(now: Moment): number | null {
    return this.isReached && this.#state.whole ? this.freshness.confirmedAgeMs(now) : null
  }

  isConfirmedSince(moment: Moment): boolean {
    return this.isReached && this.#state.whole && this.freshness.isConfirmedSince(moment)
  }

  /** No request makes the reader read: it waits for the next beat that helps. */
  readOnce(): Promise<void> {
    return this.#helped.promise
  }
}
