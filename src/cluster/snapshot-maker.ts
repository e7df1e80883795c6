import { howMany } from '../domain/printable.ts'
import { type ListName, LISTS } from '../domain/field.ts'
import { elapsedMs, type Moment } from '../time/time.ts'
import { allRowRecords, sizeOf } from '../snapshot/snapshot-chunks.ts'
import { type ReportedState, type LogPosition, idOf } from './entries.ts'
import type { Publisher } from './publisher.ts'
import { stateOf } from './own-reading.ts'
import type { ClusterOptions } from './options.ts'
import { type Session, StoreFailure } from './store.ts'
import { dropSnapshotsBut, isThere, type Manifest, setManifest, writeChunks } from './store-snapshot.ts'

const LEAST_LOG_BYTES = 4 * 1024 * 1024
/** While no snapshot can replace it, the log may grow to this multiple of its usual length. */
const MOST_TIMES = 2
const LEAST_PAUSE_MS = 10_000
const KEPT_MS = 30_000
const LOOK_EVERY_MS = 60_000
/** The list of snapshots is dropped if it could not be read in time this often. Once, the store may have been suspended. */
const MOST_LATE = 2

export interface SnapshotMakerOptions extends Pick<
  ClusterOptions,
  'time' | 'signing' | 'settings' | 'pause' | 'observe'
> {
  readonly publisher: Publisher
  readonly made: (manifest: Manifest) => void
}

/**
 * Makes the snapshot that new followers start from, in the time between heartbeats. Then trims the log up to the
 * previous snapshot.
 */
export class SnapshotMaker {
  /** Why the snapshot could not be written; `null` after a success. */
  failure: string | null = null
  readonly #options: SnapshotMakerOptions
  #last: Manifest | null
  #before: Manifest | null = null
  /** When the last snapshot was made, or taken over from another leader. */
  #madeAt: Moment | null = null
  readonly #begun: Moment
  #bytesAt = 0
  /**
   * Which step of the snapshot runs. During 'rows' a full log must wait; during 'log' it must not, because the snapshot
   * itself waits for the log.
   */
  #isMaking: 'rows' | 'log' | null = null
  #isWanted: boolean
  /** The number of lists in the last snapshot. If more are loaded now, the next one need not wait. */
  #lists = 0
  #lookedAt: Moment
  #isEnded = false
  /** When the last snapshot replaced its predecessor, which instances may still be loading. */
  #switchedAt: Moment | null = null
  /** How many times in a row the list of snapshots could not be read in time. */
  #tidiedLate = 0
  /** The position of the snapshot that is being written. */
  #making: LogPosition | undefined

  /** `last`: the snapshot in the store from which the log still starts; `null` if there is none. */
  constructor(options: SnapshotMakerOptions, last: Manifest | null) {
    this.#options = options
    this.#last = last
    this.#begun = this.#lookedAt = options.time.now()
    // Leaders that follow quickly on one another continue with one snapshot, but not for long: each measures the log
    // from its own beginning.
    this.#isWanted = last === null || last.from.epoch < options.publisher.position.epoch - 1
    if (last !== null) this.#madeAt = this.#begun
  }

  /** Whether the log has its maximum length until there is another snapshot. */
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

  /** Removes what no instance needs from a full store: entries before the snapshots in use, and other snapshots. */
  async makeRoom(session: Session): Promise<void> {
    this.#forgetsBefore(this.#options.time.now())
    const cut = (this.#before ?? this.#last)?.from
    if (cut !== undefined) await session.ask((store) => store.trimBefore(idOf(cut)))
    await this.#tidy(session)
  }

  /** Returns true once the snapshot before the last one need not be kept any longer. */
  #forgetsBefore(now: Moment): boolean {
    if (this.#switchedAt === null || elapsedMs(this.#switchedAt, now) <= KEPT_MS) return false
    this.#switchedAt = this.#before = null
    return true
  }

  /** Starts a snapshot if one is due. */
  tick(session: Session): void {
    const { time, publisher } = this.#options
    const now = time.now()
    const loaded = LISTS.filter((name) => publisher.replica[name].reader.isLoaded)
    const hasWaited = elapsedMs(this.#begun, now) > LEAST_PAUSE_MS
    // The session's next command reports its failures.
    if (elapsedMs(this.#lookedAt, now) > LOOK_EVERY_MS) this.#look(session, now).catch(() => {})
    if (this.#forgetsBefore(now)) this.#tidy(session).catch(() => {})
    if (this.#isMaking !== null) return
    if (!this.#isDue(now, loaded.length) || loaded.length < (hasWaited ? 1 : LISTS.length)) return
    this.#isMaking = 'rows'
    this.#lists = loaded.length
    this.#make(session, loaded)
      .catch((cause: unknown) => {
        this.want()
        this.#failed(cause)
      })
      .finally(() => {
        this.#isMaking = null
        this.#making = undefined
      })
  }

  #failed(cause: unknown): void {
    // The session reports failures of the connection.
    if (!(cause instanceof StoreFailure) || cause.fault === 'lost' || cause.message === this.failure) return
    this.failure = cause.message
    this.#options.observe({ kind: 'cluster-changed', what: 'snapshot-failed', detail: cause.message })
  }

  /** Checks whether the snapshot in the store is complete: the store may have evicted parts of it. */
  async #look(session: Session, now: Moment): Promise<void> {
    this.#lookedAt = now
    const last = this.#last
    if (last !== null && !(await isThere(session, last)) && last === this.#last) this.want()
    await this.#tidy(session)
  }

  /** Removes snapshots that former leaders left, and those that no instance loads any more. */
  async #tidy(session: Session): Promise<void> {
    const ofUse = () => [this.#making, this.#last?.from, this.#before?.from]
    const isUnreadable = this.#tidiedLate >= MOST_LATE
    const tidying = isUnreadable
      ? session.ask((store) => store.drop(['snapshots']))
      : dropSnapshotsBut(session, ofUse, this.#options.signing)
    await tidying.catch((cause: unknown) => {
      if (cause instanceof StoreFailure && cause.fault === 'late') this.#tidiedLate++
      throw cause
    })
    this.#tidiedLate = 0
  }

  #isDue(now: Moment, loaded: number): boolean {
    const { publisher, settings } = this.#options
    const sinceMs = this.#madeAt === null ? Number.POSITIVE_INFINITY : elapsedMs(this.#madeAt, now)
    if (sinceMs < LEAST_PAUSE_MS && loaded <= this.#lists) return false
    const isLong = this.#logBytes > this.#mostBytes
    return this.#isWanted || publisher.nonces.needsSnapshot || isLong || sinceMs > settings.fullReadEveryMs
  }

  /** Makes a snapshot of the lists that were read in full by now; partial lists are useless to others. */
  async #make(session: Session, loaded: readonly ListName[]): Promise<void> {
    const { publisher, signing, time, pause, made, observe } = this.#options
    const from = publisher.position
    const { sentBytes } = publisher
    const now = time.now()
    const stateNow = (name: ListName): ReportedState => stateOf(publisher.replica, name, now)
    const lists = { events: stateNow('events'), venues: stateNow('venues') }
    const { events, venues } = publisher.replica
    this.#isWanted = false
    this.#madeAt = now
    this.#making = from
    const rowRecords = allRowRecords({ events: events.list, venues: venues.list }, loaded)
    const chunks = await writeChunks(session, from, rowRecords, pause)
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
    this.failure = null
    const { rows, bytes } = sizeOf(manifest)
    observe({
      kind: 'cluster-changed',
      what: 'snapshot-written',
      detail: `${howMany(rows, 'row')} in ${howMany(bytes, 'byte')}`,
    })
    const cut = idOf((this.#before ?? manifest).from)
    await session.ask((store) => store.trimBefore(cut))
    // Not only after a while: leaders may change more often, and the log may grow fast.
    await this.#tidy(session).catch(() => {})
  }
}
