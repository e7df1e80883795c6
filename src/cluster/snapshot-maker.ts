import { howMany } from '../domain/printable.ts'
import { type ListName, LISTS } from '../domain/field.ts'
import { elapsedMs, type Moment } from '../time/time.ts'
import { allRowRecords } from '../records/row-records.ts'
import { sizeOf } from './snapshot-chunks.ts'
import { type LogPosition, idOf } from './entries.ts'
import type { Publisher } from './publisher.ts'
import { stateOf } from './own-reading.ts'
import type { ClusterOptions } from './options.ts'
import type { Resync } from './resync.ts'
import { type Session, StoreFailure, isFault } from './store.ts'
import { dropSnapshotsBut, isThere, type Manifest, setManifest, writeChunks } from './store-snapshot.ts'

const LEAST_LOG_BYTES = 4 * 1024 * 1024
/** While no snapshot can replace it, the log may grow to this multiple of its usual length. */
const MOST_TIMES = 2
const LEAST_PAUSE_MS = 10_000
const KEPT_MS = 30_000
const LOOK_EVERY_MS = 60_000
/** The list of snapshots is dropped if it could not be read in time this often. Once, the store may have been suspended. */
const MOST_LATE = 2

/** The snapshot that is being written. */
interface Making {
  readonly from: LogPosition
  /** All its chunks are in the store. While it waits for the log, a full log must not wait for it. */
  waitsForLog: boolean
}

/**
 * Makes the snapshot that new followers start from, in the time between heartbeats. Then trims the log up to the
 * previous snapshot.
 */
export class SnapshotMaker {
  /** Why the snapshot could not be written; `null` after a success. */
  failure: string | null = null
  readonly #options: ClusterOptions
  readonly #publisher: Publisher
  readonly #resync: Resync
  #hasLooked: boolean
  /** The last snapshot in the store that the log continues; `null` if there is none. */
  #last: Manifest | null = null
  /** The snapshot before the last one, which instances may still be loading, and since when it is replaced. */
  #before: { readonly from: LogPosition; readonly replacedAt: Moment } | null = null
  /** When the last snapshot was made, or taken over from another leader. */
  #madeAt: Moment | null = null
  readonly #begun: Moment
  #bytesAt = 0
  #making: Making | null = null
  #isWanted = true
  /** The number of lists in the last snapshot. If more are loaded now, the next one need not wait. */
  #lists = 0
  #lookedAt: Moment
  #isEnded = false
  /** How many times in a row the list of snapshots could not be read in time. */
  #tidiedLate = 0

  /** @param isNewLog whether the log is new, so that no snapshot in the store is of use for it */
  constructor(options: ClusterOptions, publisher: Publisher, resync: Resync, isNewLog: boolean) {
    this.#options = options
    this.#publisher = publisher
    this.#resync = resync
    this.#hasLooked = isNewLog
    this.#begun = this.#lookedAt = options.time.now()
  }

  /** Looks once for the snapshot in the store, to continue with it. */
  async find(session: Session): Promise<void> {
    if (this.#hasLooked) return
    const manifest = await this.#resync.read(session)
    this.#hasLooked = true
    if (manifest === null || typeof manifest === 'string') return
    this.#last = manifest
    this.#madeAt = this.#options.time.now()
    this.#resync.knows(manifest)
    // Leaders that follow quickly on one another continue with one snapshot, but not for long: each measures the log
    // from its own beginning.
    this.#isWanted = manifest.from.epoch < this.#publisher.position.epoch - 1
  }

  /** Whether the log has its maximum length until there is another snapshot. */
  get isLogFull(): boolean {
    return this.#making?.waitsForLog !== true && this.#logBytes > MOST_TIMES * this.#mostBytes
  }

  get #logBytes(): number {
    return this.#publisher.sentBytes - this.#bytesAt
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
    this.#forgetsBefore()
    const cut = this.#before?.from ?? this.#last?.from
    if (cut !== undefined) await session.ask((store) => store.trimBefore(idOf(cut)))
    await this.#tidy(session)
  }

  /** Returns true once the snapshot before the last one need not be kept any longer. */
  #forgetsBefore(): boolean {
    if (this.#before === null || elapsedMs(this.#before.replacedAt, this.#options.time.now()) <= KEPT_MS) return false
    this.#before = null
    return true
  }

  /** Starts a snapshot if one is due. */
  tick(session: Session): void {
    const now = this.#options.time.now()
    // The session's next command reports its failures.
    if (elapsedMs(this.#lookedAt, now) > LOOK_EVERY_MS) this.#look(session, now).catch(() => {})
    if (this.#forgetsBefore()) this.#tidy(session).catch(() => {})
    const loaded = LISTS.filter((name) => this.#publisher.replica[name].reader.isLoaded)
    if (this.#making === null && this.#isDue(now, loaded.length)) void this.#tryToMake(session, loaded, now)
  }

  async #tryToMake(session: Session, loaded: readonly ListName[], now: Moment): Promise<void> {
    try {
      await this.#make(session, loaded, now)
    } catch (cause) {
      this.want()
      this.#failed(cause)
      // The list of snapshots may have data of another application.
      await this.#tidy(session).catch(() => {})
    } finally {
      this.#making = null
    }
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
    if (this.#isEnded) return
    const isOfUse = (name: string): boolean =>
      this.#isEnded || [this.#making, this.#last, this.#before].some((one) => one !== null && idOf(one.from) === name)
    const isUnreadable = this.#tidiedLate >= MOST_LATE
    const tidying = isUnreadable
      ? session.ask((store) => store.drop(['snapshots']))
      : dropSnapshotsBut(session, isOfUse, this.#options.signing)
    await tidying.catch((cause: unknown) => {
      if (isFault(cause, 'late')) this.#tidiedLate++
      throw cause
    })
    this.#tidiedLate = 0
  }

  #isDue(now: Moment, loaded: number): boolean {
    const hasWaited = elapsedMs(this.#begun, now) > LEAST_PAUSE_MS
    if (loaded < (hasWaited ? 1 : LISTS.length)) return false
    const sinceMs = this.#madeAt === null ? Number.POSITIVE_INFINITY : elapsedMs(this.#madeAt, now)
    if (sinceMs < LEAST_PAUSE_MS && loaded <= this.#lists) return false
    const isLong = this.#logBytes > this.#mostBytes
    return (
      this.#isWanted ||
      this.#publisher.nonces.needsSnapshot ||
      isLong ||
      sinceMs > this.#options.settings.fullReadEveryMs
    )
  }

  /** Makes a snapshot of the lists that were read in full by now; partial lists are useless to others. */
  async #make(session: Session, loaded: readonly ListName[], now: Moment): Promise<void> {
    const { signing, time, pause, observe } = this.#options
    const { sentBytes, position: from, replica } = this.#publisher
    const making: Making = { from, waitsForLog: false }
    this.#making = making
    const lists = { events: stateOf(replica, 'events', now), venues: stateOf(replica, 'venues', now) }
    this.#isWanted = false
    this.#madeAt = now
    this.#lists = loaded.length
    const chunks = await writeChunks(session, from, allRowRecords(replica.lists, loaded), pause)
    making.waitsForLog = true
    const to = await this.#publisher.drained()
    if (this.#isEnded) return
    const manifest = { from, to, lists, chunks }
    await setManifest(session, manifest, signing)
    this.#before = this.#last && { from: this.#last.from, replacedAt: time.now() }
    this.#last = manifest
    this.#bytesAt = sentBytes
    this.#resync.knows(manifest)
    this.failure = null
    const { rows, bytes } = sizeOf(manifest)
    const detail = `${howMany(rows, 'row')} in ${howMany(bytes, 'byte')}`
    observe({ kind: 'cluster-changed', what: 'snapshot-written', detail })
    const cut = idOf(this.#before?.from ?? from)
    await session.ask((store) => store.trimBefore(cut))
    // Not only after a while: leaders may change more often, and the log may grow fast.
    await this.#tidy(session).catch(() => {})
  }
}
