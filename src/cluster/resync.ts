import { electionTimeoutMs } from './election.ts'
import { type StoreLink, FollowedLists } from './followed-lists.ts'
import type { LogReader } from './log-reader.ts'
import type { OwnNonces } from './nonces.ts'
import type { ClusterOptions } from './options.ts'
import { type Session, isFault } from './store.ts'
import { sizeOf } from './snapshot-chunks.ts'
import { loadSnapshot, type Manifest, readManifest } from './store-snapshot.ts'

/** How many election times pass before a snapshot that could not be read in time is read again. */
const PAUSE_TIMEOUTS = 4

/** Starts to follow from the snapshot in the store. If none is usable, the next nonce asks for one. */
export class Resync {
  /** Whether the snapshot in the store is of no use here, so that the leader must write another. */
  needsSnapshot = false
  /** Why the snapshot in the store is not usable. */
  why: string | null = null
  /** Whether the store has no snapshot at all. */
  foundNone = false
  /** The snapshot in the store, and when this instance learned of it. */
  known: { readonly rows: number; readonly bytes: number; readonly atMs: number } | null = null
  /** The number of resyncs, by reason. */
  readonly counts: Map<string, number> = new Map()
  readonly #options: ClusterOptions
  readonly #log: LogReader
  readonly #nonces: OwnNonces
  readonly #link: StoreLink
  #notBeforeMs = Number.NEGATIVE_INFINITY
  /** The last snapshot that could not be used. */
  #useless = ''
  #tried = ''
  /** Why a part of the snapshot did not arrive in time on the previous session. */
  #late: string | null = null
  #lost = ''

  constructor(options: ClusterOptions, log: LogReader, nonces: OwnNonces, link: StoreLink) {
    this.#options = options
    this.#log = log
    this.#nonces = nonces
    this.#link = link
  }

  /** Starts a resync because the log cannot be followed further. */
  lost(why: string, canAnswer: boolean): void {
    this.counts.set(why, (this.counts.get(why) ?? 0) + 1)
    this.#options.observe({ kind: 'cluster-changed', what: 'resynced', detail: why })
    this.begin(canAnswer)
  }

  /**
   * Starts a resync. If callers still get answers, it may wait: a hundred followers would load a hundred snapshots at
   * once.
   */
  begin(canAnswer: boolean): void {
    // The same snapshot failed twice, so the fault may be in the log after it.
    if (this.#tried !== '' && this.#tried === this.#lost) {
      this.#useless = this.#tried
      this.needsSnapshot = true
    }
    this.#lost = this.#tried
    this.#pause(canAnswer ? (this.#options.time.random() * this.#options.settings.maxAgeMs) / 6 : 0)
  }

  #pause(ms: number): void {
    this.#notBeforeMs = this.#options.time.now().monotonicMs + ms
  }

  /** Notes that the log cannot be followed from the last loaded snapshot, so a new snapshot is needed. */
  reject(why: string): void {
    this.#useless = this.#tried
    this.needsSnapshot = true
    this.why = why
    this.#options.observe({ kind: 'cluster-changed', what: 'snapshot-ignored', detail: why })
  }

  knows(manifest: Manifest): void {
    this.known = { ...sizeOf(manifest), atMs: this.#options.time.now().monotonicMs }
  }

  /**
   * Returns the manifest of the snapshot in the store, or why it is not usable. A snapshot of which a part is too large
   * to read counts as unusable, so the leader makes another.
   */
  async read(session: Session): Promise<Manifest | string | null> {
    const late = this.#late
    this.#late = null
    if (late !== null) return `the snapshot could not be read: ${late}`
    return this.#inTime(readManifest(session, this.#options.signing))
  }

  async #inTime<Part>(asked: Promise<Part>): Promise<Part> {
    return asked.catch((cause: unknown) => {
      if (isFault(cause, 'late')) this.#late = cause.message
      throw cause
    })
  }

  /** Loads the snapshot in the store; `null` if it is not usable, or not yet to be tried. */
  async load(session: Session, between: () => Promise<void>): Promise<FollowedLists | null> {
    const { time, settings, heartbeat } = this.#options
    if (time.now().monotonicMs < this.#notBeforeMs) return null
    // Each attempt to read a part that is too large ends the session, and an election begins with each session: it must
    // be able to end before the next attempt.
    const isLate = this.#late !== null
    const manifest = await this.read(session)
    if (isLate) this.#pause(PAUSE_TIMEOUTS * electionTimeoutMs(settings, heartbeat.ms))
    this.foundNone = manifest === null
    if (manifest === null) {
      this.needsSnapshot = true
      return null
    }
    this.#tried = JSON.stringify(manifest)
    if (this.#tried === this.#useless) return null
    const loaded = typeof manifest === 'string' ? manifest : await this.#listsOf(manifest, session, between)
    if (typeof loaded !== 'string') return loaded
    this.reject(loaded)
    return null
  }

  /** Loads the lists of a snapshot. Returns a text if it is not usable. */
  async #listsOf(manifest: Manifest, session: Session, between: () => Promise<void>): Promise<FollowedLists | string> {
    const { newLists, limits, pause, time } = this.#options
    const { from, to, lists: states } = manifest
    if (!(await this.#log.has(session, from))) return 'the log does not begin where the snapshot ends'
    const lists = newLists()
    const goOn = async (): Promise<void> => {
      await between()
      await pause()
    }
    const options = { memoryBytes: limits.memoryBytes, nowMs: time.now().monotonicMs, pause: goOn }
    // Before it is loaded: that may take longer than the pause between two snapshots, and the leader would write another.
    this.needsSnapshot = false
    const why = await this.#inTime(loadSnapshot(session, manifest, lists, options))
    if (why !== null) return why
    this.why = null
    this.knows(manifest)
    const [nonces, link] = [this.#nonces, this.#link]
    return new FollowedLists({ ...this.#options, nonces, link, lists, position: from, until: to, states })
  }
}
