import { decodeEntry, idOf, isBelow, isHighest, isSame, type LogEntry, type LogPosition } from './entries.ts'
import type { ElectionTimer } from './election.ts'
import { drawName } from './nonces.ts'
import type { ClusterOptions } from './options.ts'
import { type Appended, type StoredEntry, Session, commandLimitMs, isFault } from './store.ts'
import { UnusableLog } from './unusable-log.ts'

/** The number of entries read at once: a body may have 4 MB. */
const MOST_ENTRIES = 16
/** The least number of late answers that count: a single one may come from a store that was suspended. */
const LEAST_LATE = 2
const REPLACED =
  'an instance replaces it once an election finds no leader; check which other program writes to the store'

/** Reads the log, verifies its entries, and notes why the log cannot be used. */
export class LogReader {
  readonly unusable: UnusableLog
  readonly #options: ClusterOptions
  readonly #election: ElectionTimer
  #highestEpoch = 0
  /** The number of entries read at once; reduced while reading takes long. */
  #entriesAtOnce = MOST_ENTRIES
  /** The id of the log's last entry when an instance that follows nothing looked at it; `null` if there was none. */
  #topSeen: string | null = null
  /** The position after which an entry is unreadable although an instance leads the log. */
  #unreadAt: LogPosition | null = null
  /** Why the last entry cannot be verified. */
  #refused: string | null = null

  constructor(options: ClusterOptions, election: ElectionTimer) {
    this.#options = options
    this.#election = election
    this.unusable = new UnusableLog(
      options.time,
      () => election.lengthMs,
      () => this.#topArrives(),
      (why) => options.observe({ kind: 'cluster-changed', what: 'log-unusable', detail: why }),
    )
  }

  /** Why the log or one of its entries cannot be used, and what to do, in a sentence; `null` if all entries can be. */
  get trouble(): string | null {
    if (this.unusable.why !== null) return `${this.unusable.why}; ${REPLACED}`
    return this.#refused === null ? null : `${this.#refused}; check which other program writes to the store`
  }

  /** Whether an entry of this log was read here since the start. */
  get hasSeenEntries(): boolean {
    return this.#highestEpoch > 0
  }

  /** Returns a position with an epoch above all that were ever seen; after the highest one, above `top` alone. */
  nextClaim(top: LogPosition | null): LogPosition {
    const seen = isHighest({ epoch: this.#highestEpoch }) ? 0 : this.#highestEpoch
    this.#highestEpoch = Math.max(seen, top?.epoch ?? 0) + 1
    return { epoch: this.#highestEpoch, number: 0, claimId: drawName(this.#options.draw) }
  }

  /** Decodes an entry; `null` if it cannot be verified. Reports this once, and again only after a verified entry. */
  decode(stored: StoredEntry): LogEntry | null {
    const entry = decodeEntry(stored, this.#options.signing)
    if ('refused' in entry) {
      if (this.#refused === null) {
        this.#options.observe({ kind: 'cluster-changed', what: 'entry-refused', detail: entry.refused })
      }
      this.#refused = entry.refused
      return null
    }
    this.#refused = null
    this.unusable.read()
    if (entry.head.kind === 'heartbeat') this.#election.heartbeats(entry.head.heartbeatMs)
    this.#highestEpoch = Math.max(this.#highestEpoch, entry.position.epoch)
    return entry
  }

  /** Reads the next entries, or waits up to a heartbeat for them. After a slow read, it requests fewer at once. */
  async readAfter(session: Session, id: string): Promise<readonly StoredEntry[]> {
    const { time, heartbeat } = this.#options
    const count = this.#entriesAtOnce
    const begunMs = time.now().monotonicMs
    // If a read times out, only an entry that was requested alone is known to be too large.
    this.#entriesAtOnce = 1
    const waitMs = heartbeat.ms
    const asked = session.readAfter(id, waitMs, count)
    const entries = await (count === 1 ? this.#reading(asked) : asked)
    const isSlow = time.now().monotonicMs - begunMs > waitMs + session.limitMs / 4
    this.#entriesAtOnce = isSlow ? Math.max(1, count >> 1) : Math.min(MOST_ENTRIES, count + 1)
    return entries
  }

  /** Returns true if this entry is still in the log. */
  async has(session: Session, position: LogPosition): Promise<boolean> {
    const [stored] = await this.#reading(session.ask((store) => store.readFrom(idOf(position), 1)))
    const entry = stored === undefined ? null : decodeEntry(stored, this.#options.signing)
    return entry !== null && 'position' in entry && isSame(entry.position, position)
  }

  /** Returns the last entry; `null` if there is no log. If the entry cannot be verified, `unusable` has the reason. */
  async top(session: Session): Promise<LogEntry | null> {
    const stored = await this.#reading(topOf(session))
    const entry = stored === null ? null : this.decode(stored)
    if (stored !== null && entry === null) {
      const why = `the last entry of the log, ${stored.id}, cannot be verified`
      this.unusable.found(why, (later) => this.#isTopRefused(later))
    }
    return entry
  }

  /** Returns true if the last entry, or `null` for no log, is not the one at the previous call. */
  isNews(top: LogEntry | null): boolean {
    const id = top === null ? null : idOf(top.position)
    const before = this.#topSeen
    this.#topSeen = id
    return id !== before
  }

  /**
   * Appends an entry, in a full store after `makeRoom`. A log that refuses it although it shows nothing above it is
   * unusable.
   */
  async append(
    session: Session,
    entry: StoredEntry,
    mayCreate: boolean,
    makeRoom: (session: Session) => Promise<void>,
  ): Promise<Appended> {
    const appended = await session.append(entry, mayCreate).catch(async (cause: unknown) => {
      if (!isFault(cause, 'full')) throw cause
      await makeRoom(session)
      return session.append(entry, mayCreate)
    })
    if (appended === 'added') this.unusable.moved()
    if (appended !== 'refused') return appended
    // Something is wrong with the log, so a single late answer counts.
    const last = await this.#reading(topOf(session), 1)
    if (last !== null && !isBelow(last.id, entry.id)) return appended
    // The entry that made the log refuse ours may have been lost with the end of the log.
    const again = await session.append(entry, mayCreate)
    if (again === 'refused') this.#isStuck(entry.id, last)
    return again
  }

  /** Awaits entries that are being read, and notes a failure. */
  async #reading<Read>(asked: Promise<Read>, leastLate = LEAST_LATE): Promise<Read> {
    return asked.catch((cause: unknown) => {
      this.unusable.failed(cause, leastLate, (later) => this.#isTopRefused(later))
      throw cause
    })
  }

  /**
   * Notes that an entry after this position is unreadable although an instance leads the log. Returns true if this was
   * already noted for the same position.
   */
  isUnreadAgain(after: LogPosition | null): boolean {
    const isAgain = isSame(after, this.#unreadAt)
    this.#unreadAt = after
    return isAgain
  }

  async #isTopRefused(session: Session): Promise<boolean> {
    try {
      const stored = await topOf(session)
      return stored !== null && 'refused' in decodeEntry(stored, this.#options.signing)
    } catch (cause) {
      if (isFault(cause, 'foreign')) return true
      throw cause
    }
  }

  /** Uses a separate session, because the one on which the silence is observed must keep answering. */
  async #topArrives(): Promise<boolean> {
    const { store, time, settings } = this.#options
    const opening = Session.open(store, time, commandLimitMs(settings), new AbortController().signal)
    const session = await opening.catch(() => null)
    if (session === null) return true
    try {
      await topOf(session)
      return true
    } catch (cause) {
      return !isFault(cause, 'late')
    } finally {
      session.close()
    }
  }

  /** Notes that the log accepts nothing above the last entry that it shows; `last` is `null` if it shows none. */
  #isStuck(id: string, last: StoredEntry | null): void {
    const where = last === null ? 'although it has none' : `after its last entry ${last.id}`
    const why = `the log does not accept entry ${id} ${where}: a later entry was written and deleted (XADD, XDEL)`
    this.unusable.found(why, async (session) => {
      const isPrimary = await session.ask((store) => store.isPrimary())
      return isPrimary && (await topOf(session))?.id === last?.id
    })
  }

  /** Notes that no epoch is above the last entry of the log. */
  isExhausted(last: LogPosition): void {
    const id = idOf(last)
    const why = `the last entry of the log, ${id}, has the highest epoch that there is`
    this.unusable.found(why, async (session) => (await topOf(session))?.id === id)
  }

  /** Drops an unusable log that no instance leads. */
  async drop(session: Session): Promise<void> {
    const why = this.unusable.why ?? ''
    await session.ask((store) => store.drop(['log']))
    this.clear()
    this.#options.observe({ kind: 'cluster-changed', what: 'log-replaced', detail: why })
  }

  /** Notes that the log is usable again, or replaced. */
  clear(): void {
    this.unusable.clear()
    this.#refused = null
  }
}

function topOf(session: Session): Promise<StoredEntry | null> {
  return session.ask((store) => store.top())
}
