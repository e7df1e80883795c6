import { type ListName, LISTS } from '../domain/field.ts'
import { elapsedMs, type Moment } from '../time/time.ts'
import { allRowRecords } from '../snapshot/snapshot-chunks.ts'
import { type ListState, type LogPosition, idOf } from './entries.ts'
import type { Publisher } from './publisher.ts'
import { stateOf } from './list-states.ts'
import type { ClusterOptions } from './options.ts'
import type { Session } from './session.ts'
import { dropSnapshotsBut, isThere, type Manifest, setManifest, sizeOf, writeChunks } from './store-snapshot.ts'

const LEAST_LOG_BYTES = 4 * 1024 * 1024
/** While a snapshot is made, or must not be made yet, the log may get so many times as long. */
const MOST_TIMES = 2
const LEAST_PAUSE_MS = 10_000
const KEPT_MS = 30_000
const LOOK_EVERY_MS = 60_000

export interface SnapshotMakerOptions extends Pick<ClusterOptions, 'time' | 'signing' | 'settings' | 'pause'> {
  readonly publisher: Publisher
  readonly made: (manifest: Manifest) => void
  readonly failed: (cause: unknown) => void
}

/** Makes the snapshot that others begin with, where one is wanted, beside the heartbeats; and cuts the log before the last but one. */
export class SnapshotMaker {
  readonly #options: SnapshotMakerOptions
  #last: Manifest | null
  #before: Manifest | null = null
  #madeAt: Moment | null = null
  readonly #begun: Moment
  #bytesAt = 0
  /** What the log may not grow beyond meanwhile waits for the snapshot, but not what the snapshot itself waits for. */
  #isMaking: 'rows' | 'log' | null = null
  #isWanted: boolean
  /** How many lists the last one that was begun has: one more is not waited with. */
  #lists = 0
  #lookedAt: Moment
  #isEnded = false
  /** When the last one took the place of the one before, which some may still be loading. */
  #switchedAt: Moment | null = null
  /** The one that is being written. */
  #making: LogPosition | undefined

  /** `last`: the one in the store that the log still begins with, null where there is none. */
  constructor(options: SnapshotMakerOptions, last: Manifest | null) {
    this.#options = options
    this.#last = last
    this.#isWanted = last === null
    this.#begun = this.#lookedAt = options.time.now()
  }

  /** The log before it is of no use to anybody. */
  get trimsBefore(): LogPosition | null {
    return (this.#before ?? this.#last)?.from ?? null
  }

  /** The log is as long as it may get before there is another snapshot. */
  get isLogFull(): boolean {
    return this.#isMaking !== 'log' && this.#logBytes > MOST_TIMES * this.#mostBytes
  }

  get #logBytes(): number {
    return this.#options.publisher.sentBytes - this.#bytesAt
  }

  get #mostBytes(): number {
    return Math.max(LEAST_LOG_BYTES, this.#last === null ? 0 : sizeOf(this.#last).bytes / 2)
  }

  want(): void {
    this.#isWanted = true
  }

  end(): void {
    this.#isEnded = true
  }

  /** Begins to make one where it is due. */
  tick(session: Session): void {
    const { time, publisher } = this.#options
    const now = time.now()
    const loaded = LISTS.filter((name) => publisher.replica[name].reader.isLoaded)
    const hasWaited = elapsedMs(this.#begun, now) > LEAST_PAUSE_MS
    // Whatever is wrong with the session, its next command tells.
    if (elapsedMs(this.#lookedAt, now) > LOOK_EVERY_MS) this.#look(session, now).catch(() => {})
    if (this.#switchedAt !== null && elapsedMs(this.#switchedAt, now) > KEPT_MS) {
      this.#switchedAt = this.#before = null
      this.#tidy(session).catch(() => {})
    }
    if (this.#isMaking !== null) return
    if (!this.#isDue(now, loaded.length) || loaded.length < (hasWaited ? 1 : LISTS.length)) return
    this.#isMaking = 'rows'
    this.#lists = loaded.length
    this.#make(session, loaded)
      .catch((cause: unknown) => {
        this.want()
        this.#options.failed(cause)
      })
      .finally(() => {
        this.#isMaking = null
        this.#making = undefined
      })
  }

  /** The one in the store may have been thrown away, in part or in whole. */
  async #look(session: Session, now: Moment): Promise<void> {
    this.#lookedAt = now
    const last = this.#last
    if (last !== null && !(await isThere(session, last)) && last === this.#last) this.want()
    await this.#tidy(session)
  }

  /** Removes what former leaders left, and what nobody loads any more. */
  async #tidy(session: Session): Promise<void> {
    const ofUse = () => [this.#making, this.#last?.from, this.#before?.from]
    await dropSnapshotsBut(session, ofUse, this.#options.signing)
  }

  #isDue(now: Moment, loaded: number): boolean {
    const { publisher, settings } = this.#options
    const sinceMs = this.#madeAt === null ? Number.POSITIVE_INFINITY : elapsedMs(this.#madeAt, now)
    if (sinceMs < LEAST_PAUSE_MS && loaded <= this.#lists) return false
    const isLong = this.#logBytes > this.#mostBytes
    return this.#isWanted || publisher.nonces.needsSnapshot || isLong || sinceMs > settings.fullReadEveryMs
  }

  /** Of the lists that were read in full by now: what there is of another is of no use to anybody. */
  async #make(session: Session, loaded: readonly ListName[]): Promise<void> {
    const { publisher, signing, time, pause, made } = this.#options
    const from = publisher.position
    const { sentBytes } = publisher
    const now = time.now()
    const stateNow = (name: ListName): ListState => stateOf(publisher.replica, name, now)
    const lists = { events: stateNow('events'), venues: stateNow('venues') }
    const { events, venues } = publisher.replica
    this.#isWanted = false
    this.#madeAt = now
    this.#making = from
    const frames = allRowRecords({ events: events.list, venues: venues.list }, loaded)
    const chunks = await writeChunks(session, from, frames, pause)
    this.#isMaking = 'log'
    const to = await publisher.drained()
    if (this.#isEnded) return
    const manifest = { from, to, lists, chunks }
    await setManifest(session, manifest, signing)
    this.#before = this.#last
    this.#switchedAt = time.now()
    this.#last = manifest
    this.#bytesAt = sentBytes
    made(manifest)
    const cut = idOf((this.#before ?? manifest).from)
    await session.ask((store) => store.trimBefore(cut))
  }
}
