import { decodeEntry, idOf, isSame } from './entries.ts'
import { electionTimeoutMs } from './election.ts'
import { type StoreLink, FollowedLists } from './followed-lists.ts'
import type { OwnNonces } from './nonces.ts'
import type { ClusterOptions } from './options.ts'
import { type Session, StoreFailure } from './store.ts'
import { sizeOf } from '../snapshot/snapshot-chunks.ts'
import { loadSnapshot, type Manifest, readManifest } from './store-snapshot.ts'

/** How many election times pass before a snapshot that could not be read in time is read again. */
const PAUSE_TIMEOUTS = 4

export interface ResyncOptions extends Pick<
  ClusterOptions,
  'time' | 'heartbeat' | 'newLists' | 'signing' | 'limits' | 'settings' | 'pause' | 'observe'
> {
  readonly nonces: OwnNonces
  readonly link: StoreLink
  /** Awaits entries that are being read, and notes failures. */
  readonly reading: <Read>(asked: Promise<Read>) => Promise<Read>
}

/** Starts to follow from the snapshot in the store. If none is usable, the next nonce asks for one. */
export class Resync {
  #needsSnapshot = false
  /** Why the snapshot in the store is not usable. */
  why: string | null = null
  /** Whether the store has no snapshot at all. */
  foundNone = false
  /** The snapshot in the store, and when this instance learned of it. */
  known: { readonly rows: number; readonly bytes: number; readonly atMs: number } | null = null
  /** The number of resyncs, by reason. */
  readonly counts: Map<string, number> = new Map()
  readonly #options: ResyncOptions
  #notBeforeMs = Number.NEGATIVE_INFINITY
  /** The last snapshot that could not be used. */
  #useless = ''
  #tried = ''
  /** Why a part of the snapshot did not arrive in time on the previous session. */
  #late: string | null = null
  #lost = ''

  constructor(options: ResyncOptions) {
    this.#options = options
  }

  /** Whether the snapshot in the store is of no use here, so that the leader must write another. */
  get needsSnapshot(): boolean {
    return this.#needsSnapshot
  }

  /** Notes that this instance follows the log and needs no snapshot. */
  satisfied(): void {
    this.#needsSnapshot = false
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
      this.#needsSnapshot = true
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
    this.#needsSnapshot = true
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
      if (cause instanceof StoreFailure && cause.fault === 'late') this.#late = cause.message
      throw cause
    })
  }

  async load(session: Session, between: () => Promise<void>): Promise<FollowedLists | null> {
    if (this.#options.time.now().monotonicMs < this.#notBeforeMs) return null
    const { newLists, signing, limits, pause } = this.#options
    // Each attempt to read a part that is too large ends the session, and an election begins with each session: it must
    // be able to end before the next attempt.
    const isLate = this.#late !== null
    const manifest = await this.read(session)
    if (isLate) this.#pause(PAUSE_TIMEOUTS * electionTimeoutMs(this.#options.settings, this.#options.heartbeat.ms))
    this.foundNone = manifest === null
    if (manifest === null) {
      this.#needsSnapshot = true
      return null
    }
    this.#tried = JSON.stringify(manifest)
    if (this.#tried === this.#useless) return null
    if (typeof manifest === 'string') {
      this.reject(manifest)
      return null
    }
    const { from, to, lists: states } = manifest
    const [first] = await this.#options.reading(session.ask((store) => store.readFrom(idOf(from), 1)))
    const begin = first === undefined ? null : decodeEntry(first, signing)
    if (begin === null || 'refused' in begin || !isSame(begin.position, from)) {
      this.reject('the log does not begin where the snapshot ends')
      return null
    }
    const lists = newLists()
    const { memoryBytes } = limits
    const nowMs = this.#options.time.now().monotonicMs
    const goOn = async (): Promise<void> => {
      await between()
      await pause()
    }
    const why = await this.#inTime(loadSnapshot(session, manifest, lists, { memoryBytes, nowMs, pause: goOn }))
    if (why !== null) {
      this.reject(why)
      return null
    }
    this.satisfied()
    this.why = null
    this.knows(manifest)
    return new FollowedLists({ ...this.#options, lists, position: from, until: to, states })
  }
}
