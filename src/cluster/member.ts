import { elapsedMs, type Moment, type Time } from '../time/time.ts'
import { Accepting } from './accepting.ts'
import { SnapshotMaker } from './snapshot-maker.ts'
import { type HeartbeatEntry, decodeEntry, idOf, type LogEntry, type LogPosition } from './entries.ts'
import { FollowedLists } from './followed-lists.ts'
import { drawName, OwnNonces, SeenNonces } from './nonces.ts'
import type { Role, ClusterOptions } from './options.ts'
import { OwnReading } from './own-reading.ts'
import { Publisher } from './publisher.ts'
import { Resync } from './resync.ts'
import { ElectionTimer } from './election.ts'
import { commandLimitMs, Session } from './session.ts'
import { type StoredEntry, StoreFailure } from './store.ts'
import { type Manifest, sizeOf } from './store-snapshot.ts'
import { CutOver } from './cut-over.ts'
import { UnusableLog } from './unusable-log.ts'

/** The number of entries read at once: a body may have 4 MB. */
export const MOST_ENTRIES = 16
/** A single late answer may come from a store that was suspended. */
const LEAST_LATE = 2
const REPLACED = 'it is replaced once it is certain that nobody leads it: see who else writes to the store'
const NOBODY = 'there is nothing in the store to begin with, and no instance leads yet'
const NOWHERE: LogPosition = { epoch: 0, number: 0, claimId: '' }

/** The state of one instance in the cluster, and its transitions. */
export class Member {
  readonly instance: string
  readonly options: ClusterOptions
  readonly election: ElectionTimer
  readonly resync: Resync
  readonly cutOver: CutOver
  isFit = false
  /** Follows the log, whether or not its lists are served yet; `null` while a snapshot is looked for. */
  target: FollowedLists | null = null
  /** Reads the CRM here, as leader or standalone. */
  own: OwnReading | null = null
  publisher: Publisher | null = null
  snapshots: SnapshotMaker | null = null
  /** A claim that was sent and is not known to be in the log. */
  claimed: { readonly position: LogPosition; readonly newLog: boolean } | null = null
  /** Monotonic ms: until then this instance claims nothing, because it has just resigned. */
  restsUntilMs: number = Number.NEGATIVE_INFINITY
  readonly unusable: UnusableLog
  /** The position after which an entry is unreadable although an instance leads the log. */
  unreadAt: string | null = null
  /** The number of entries read at once; reduced while reading takes long. */
  entriesAtOnce: number = MOST_ENTRIES
  /** The id of the last entry that was seen while nothing was followed. */
  topSeen = ''
  /** The last heartbeat that was applied or written here. */
  heartbeat: HeartbeatEntry | null = null
  readonly accepting: Accepting
  readonly #time: Time
  readonly #nonces: OwnNonces
  #highestEpoch = 0
  #nonceAt: Moment | null = null
  #heartbeatAt: Moment
  /** Why the last entry is not believed. */
  #refused: string | null = null
  /** Why the snapshot could not be written. */
  #snapshotFailure: string | null = null
  readonly #begun: Moment

  constructor(options: ClusterOptions) {
    this.options = options
    const { time, draw, signing, settings, heartbeat, newLists, observe } = options
    this.#time = time
    this.accepting = new Accepting(time)
    this.#heartbeatAt = this.#begun = time.now()
    this.instance = drawName(draw)
    const nonces = (this.#nonces = new OwnNonces(this.instance, draw, time, signing))
    this.election = new ElectionTimer(time, settings, heartbeat)
    this.unusable = new UnusableLog(
      time,
      () => Session.open(options.store, time, commandLimitMs(settings), new AbortController().signal),
      () => this.election.lengthMs,
      (why) => observe({ kind: 'cluster-changed', what: 'log-unusable', detail: why }),
    )
    const ignored = (why: string): void => observe({ kind: 'cluster-changed', what: 'snapshot-ignored', detail: why })
    this.resync = new Resync({ ...options, nonces, ignored, reading: (asked) => this.reading(asked) })
    const until = { ...NOWHERE, number: 1 }
    this.cutOver = new CutOver(
      new FollowedLists({ lists: newLists(), time, nonces, heartbeat, position: NOWHERE, until }),
      time,
    )
  }

  get role(): Role {
    if (this.publisher !== null) return 'leader'
    if (this.own !== null) return 'standalone'
    return this.target?.isReached === true ? 'follower' : 'waiting'
  }

  /** Returns a position with an epoch above all that were ever seen. */
  nextClaim(top: LogPosition | null): LogPosition {
    this.#highestEpoch = Math.max(this.#highestEpoch, top?.epoch ?? 0) + 1
    return { epoch: this.#highestEpoch, number: 0, claimId: drawName(this.options.draw) }
  }

  /** Whether an entry of this log was read here since the start. */
  get hasSeenLog(): boolean {
    return this.#highestEpoch > 0
  }

  get candidates(): readonly string[] {
    return this.heartbeat?.candidates ?? []
  }

  /** Decodes an entry; `null` if it must not be believed, which is reported once until another one is believed. */
  decode(stored: StoredEntry): LogEntry | null {
    const entry = decodeEntry(stored, this.options.signing)
    if ('refused' in entry) {
      if (this.#refused === null)
        this.options.observe({ kind: 'cluster-changed', what: 'entry-refused', detail: entry.refused })
      this.#refused = entry.refused
      return null
    }
    this.#refused = null
    this.unusable.read()
    if (entry.head.kind === 'heartbeat') this.election.heartbeats(entry.head.heartbeatMs)
    this.#highestEpoch = Math.max(this.#highestEpoch, entry.position.epoch)
    return entry
  }

  /** Notes that another instance writes to the log, or leaves it. */
  heard({ head }: LogEntry): void {
    this.unusable.moved()
    if (head.kind === 'leave') this.election.vacant()
    else this.election.heard()
  }

  /** Writes a fresh nonce if the last one is a heartbeat old, or was written on another connection. */
  async nonce(session: Session, isNew = false): Promise<void> {
    const { version } = this.options
    const heartbeatMs = this.options.heartbeat.ms
    const now = this.#time.now()
    if (!isNew && this.#nonceAt !== null && elapsedMs(this.#nonceAt, now) < heartbeatMs) return
    this.#nonceAt = now
    const accepts = this.accepting.entryFor(this.#reached)
    const notes = { version, isFit: this.isFit, needsSnapshot: this.resync.needsSnapshot, heartbeatMs, accepts }
    const nonce = this.#nonces.next(notes)
    // A leader drops a foreign key; without a leader the nonce is not needed.
    await session.ask((store) => store.writeNonce(this.instance, nonce)).catch(onlyForeign)
  }

  /**
   * Returns the last entry of the log, decoded if it is believed. Notes what keeps it from being read.
   * @param isOdd whether something else is wrong with the log
   */
  async top(
    session: Session,
    isOdd = false,
  ): Promise<{ readonly stored: StoredEntry | null; readonly entry: LogEntry | null }> {
    const stored = await this.reading(
      session.ask((store) => store.top()),
      isOdd,
    )
    const entry = stored === null ? null : this.decode(stored)
    if (stored !== null && entry === null) {
      this.unusable.found(`the last entry of the log, ${stored.id}, is not believed`, (other) =>
        this.#isTopUnread(other),
      )
    }
    return { stored, entry }
  }

  /** Awaits entries that are being read, and notes a failure. */
  async reading<Read>(asked: Promise<Read>, isOdd = false): Promise<Read> {
    return asked.catch((cause: unknown) => {
      this.unusable.failed(cause, isOdd ? 1 : LEAST_LATE, (other) => this.#isTopUnread(other))
      throw cause
    })
  }

  async #isTopUnread(session: Session): Promise<boolean> {
    try {
      const stored = await session.ask((store) => store.top())
      return stored !== null && 'refused' in decodeEntry(stored, this.options.signing)
    } catch (cause) {
      return cause instanceof StoreFailure && (cause.fault === 'late' || cause.fault === 'foreign')
    }
  }

  /** Notes that the log accepts nothing above the last entry that it shows. */
  isStuckAt(position: LogPosition, lastId: string): void {
    const why = `the log takes no entry ${idOf(position)} above its last one, ${lastId}: a later one was written and deleted (XADD, XDEL)`
    this.unusable.found(why, async (session) => {
      const isPrimary = await session.ask((store) => store.isPrimary())
      const top = await session.ask((store) => store.top())
      return isPrimary && top?.id === lastId
    })
  }

  /** Drops an unusable log that no instance leads. */
  async dropLog(session: Session): Promise<void> {
    const why = this.unusable.why ?? ''
    await session.ask((store) => store.drop('log'))
    this.unusable.clear()
    this.#refused = null
    this.options.observe({ kind: 'cluster-changed', what: 'log-replaced', detail: why })
  }

  /** Whether a heartbeat carries a nonce that was written since then, in monotonic ms. */
  wroteSince(sinceMs: number, { body }: LogEntry): boolean {
    return (this.#nonces.notedIn(body)?.monotonicMs ?? Number.NEGATIVE_INFINITY) >= sinceMs
  }

  /** Updates the election after an applied entry. */
  follow(target: FollowedLists, { head }: LogEntry): void {
    if (target.heartbeatAt.monotonicMs > this.#heartbeatAt.monotonicMs) this.#heartbeatAt = target.heartbeatAt
    if (head.kind !== 'heartbeat') return
    this.heartbeat = head
    this.accepting.told(head.accepted, target.shrunk)
  }

  /** Accepts the shorter lists for an operator. Returns the lists that were held back; `null` if no leader answers. */
  async accept(): Promise<readonly string[] | null> {
    return this.own === null ? this.accepting.say() : this.#acceptHere(this.own)
  }

  #acceptHere({ replica }: OwnReading): readonly string[] {
    const lists = replica.acceptShorter()
    for (const list of lists) this.publisher?.outbox.tell(list)
    return lists
  }

  #readFrom(): OwnReading {
    const own = (this.own = new OwnReading(this.options, this.#reached))
    if (this.accepting.isSaid) this.accepting.answer(this.#acceptHere(own))
    return own
  }

  /** Stops following: the log cannot be followed further from here. */
  lose(target: FollowedLists, why: string): void {
    this.cutOver.look()
    if (this.target === target) this.target = null
    this.claimed = null
    if (!target.isReached) return this.resync.reject(why)
    if (target.isBroken) this.resync.reject(why)
    this.resync.counts.set(why, (this.resync.counts.get(why) ?? 0) + 1)
    this.options.observe({ kind: 'cluster-changed', what: 'resynced', detail: why })
    this.resync.begin(this.#canAnswer())
  }

  #canAnswer(): boolean {
    const { events, venues } = this.cutOver.served
    const now = this.#time.now()
    return [events, venues].every((list) => (list.ageMs(now) ?? Infinity) <= this.options.settings.maxAgeMs)
  }

  /** Becomes leader: the claim is in the log, and everything before it has been applied. */
  takeOver(position: LogPosition, newLog: boolean): void {
    const { options, instance } = this
    const { time, signing, observe } = options
    const own = this.own ?? this.#readFrom()
    const publisher = new Publisher({
      ...options,
      instance,
      replica: own.replica,
      position,
      dirtyRows: own.dirtyRows,
      nonces: new SeenNonces(signing, time, options.heartbeat),
      trimsBefore: () => this.snapshots?.trimsBefore ?? null,
      isLogFull: () => this.snapshots?.isLogFull ?? false,
    })
    own.onTold = (observation) => publisher.note(observation)
    this.publisher = publisher
    this.target = this.claimed = null
    this.unusable.clear()
    this.#refused = null
    this.resync.needsSnapshot = false
    if (newLog) this.makeSnapshots(null)
    this.offer()
    const detail = `epoch ${position.epoch}${newLog ? ', with a new log' : ''}`
    observe({ kind: 'cluster-changed', what: 'became-leader', detail })
  }

  /** Notes an accepted claim. Everything before it is read first. */
  won({ position, newLog }: { readonly position: LogPosition; readonly newLog: boolean }): void {
    if (newLog) this.takeOver(position, true)
  }

  /** What is wrong with the content of the store, and what Marquee does about it; `null` if nothing is. */
  get trouble(): string | null {
    const { unusable, publisher, role, resync } = this
    if (unusable.why !== null) return `${unusable.why}; ${REPLACED}`
    if (this.#refused !== null) return `${this.#refused}: see who else writes to the store`
    if (publisher !== null) return this.#snapshotFailure ?? publisher.refusedNonces
    if (role !== 'waiting') return null
    if (resync.why !== null) return `${resync.why}; the leader was asked for another`
    if (elapsedMs(this.#begun, this.#time.now()) < this.election.lengthMs) return null
    return this.isFit ? NOBODY : `${NOBODY}, and this one cannot read the CRM`
  }

  get #reached(): FollowedLists | null {
    return this.target?.isReached === true ? this.target : null
  }

  /** Starts to make snapshots, unless that has started, with the snapshot in the store as predecessor. */
  async findSnapshot(session: Session): Promise<void> {
    if (this.snapshots !== null) return
    const manifest = await this.resync.read(session)
    const last = typeof manifest === 'string' ? null : manifest
    if (last !== null) this.resync.knows(last)
    this.makeSnapshots(last)
  }

  /** Starts to make snapshots. `last` is the snapshot from which the log still continues; `null` if none is usable. */
  makeSnapshots(last: Manifest | null): void {
    const { publisher } = this
    if (publisher === null) return
    this.snapshots?.end()
    const made = (manifest: Manifest): void => {
      this.resync.knows(manifest)
      this.#snapshotFailure = null
      const { rows, bytes } = sizeOf(manifest)
      this.options.observe({
        kind: 'cluster-changed',
        what: 'snapshot-written',
        detail: `${rows} rows in ${bytes} bytes`,
      })
    }
    const failed = (cause: unknown): void => {
      // The session reports failures of the connection.
      if (!(cause instanceof StoreFailure) || cause.fault === 'lost' || cause.message === this.#snapshotFailure) return
      this.#snapshotFailure = cause.message
      this.options.observe({ kind: 'cluster-changed', what: 'snapshot-failed', detail: cause.message })
    }
    this.snapshots = new SnapshotMaker({ ...this.options, publisher, made, failed }, last)
  }

  /** Stops leading. Its rows are served until those of the new leader are known to be later. */
  resign(why: string): void {
    this.own?.end()
    this.snapshots?.end()
    this.own = this.publisher = this.snapshots = null
    this.#heartbeatAt = this.#time.now()
    this.resync.begin(this.#canAnswer())
    this.options.observe({ kind: 'cluster-changed', what: 'lost-leadership', detail: why })
  }

  /**
   * Starts reading the CRM alone after half the maximum age without a heartbeat, if this instance is a candidate;
   * sooner if it holds no data and the store is unreachable.
   */
  goAloneIfDue(isConnected: boolean): void {
    const { own, isFit, instance } = this
    const { settings, readersWhenLost, observe, time } = this.options
    const now = time.now()
    if (own !== null || !isFit || now.monotonicMs < this.restsUntilMs) return
    if (readersWhenLost !== Number.POSITIVE_INFINITY && !this.candidates.includes(instance)) return
    const hasNothing = !isConnected && this.cutOver.isNew
    if (elapsedMs(this.#heartbeatAt, now) < (hasNothing ? this.election.lengthMs : settings.maxAgeMs / 2)) return
    this.#readFrom()
    this.target = null
    // The rows read here lack the entries before a claim that continues the log.
    if (this.claimed?.newLog === false) this.claimed = null
    this.resync.begin(false)
    this.offer()
    observe({ kind: 'cluster-changed', what: 'reads-alone', detail: null })
  }

  /** Offers the lists that are kept up to date for serving. */
  offer(): void {
    const { own, publisher, target, cutOver } = this
    if (publisher === null && target !== null && this.#reached !== null) {
      if (!cutOver.offer(target) || own === null) return
      // The log is followed again, so this instance need not read the CRM.
      own.end()
      this.own = null
    } else if (own !== null) cutOver.offer(own.replica)
  }
}

function onlyForeign(cause: unknown): void {
  if (!(cause instanceof StoreFailure) || cause.fault !== 'foreign') throw cause
}
