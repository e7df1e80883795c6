import { type Moment, type Time, elapsedMs, laterOf } from '../time/time.ts'
import { Accepting } from './accepting.ts'
import { CutOver } from './cut-over.ts'
import { ElectionTimer } from './election.ts'
import type { HeartbeatEntry, LogEntry, LogPosition } from './entries.ts'
import { FollowedLists } from './followed-lists.ts'
import { LogReader } from './log-reader.ts'
import { type NodeState, WAITING, listsOf, ownOf, withLists, withoutClaim, withoutOwn } from './node-state.ts'
import { OwnNonces, drawName } from './nonces.ts'
import type { ClusterStatus } from '../operations/status.ts'
import type { ClusterOptions } from './options.ts'
import { OwnReading } from './own-reading.ts'
import { Publisher } from './publisher.ts'
import { Resync } from './resync.ts'
import { type Session, isFault } from './store.ts'
import { SnapshotMaker } from './snapshot-maker.ts'

const NOWHERE: LogPosition = { epoch: 0, number: 0, claimId: '' }
const NO_DATA = 'the store has no data yet'
const ASKED = 'the leader was asked for'

/** One instance of the cluster. Its state is a value (node-state.ts), and every transition is a method here. */
export class Member {
  readonly instance: string
  readonly options: ClusterOptions
  readonly election: ElectionTimer
  readonly log: LogReader
  readonly resync: Resync
  readonly cutOver: CutOver
  readonly accepting: Accepting
  isConnected = false
  /** Whether this instance follows a store that has no room for its nonce. */
  isStoreFull = false
  /** Whether this instance could read the CRM. */
  isFit = false
  /** The last heartbeat that was applied or written here. */
  heartbeat: HeartbeatEntry | null = null
  /** When the nonce was made that a heartbeat last carried, or a heartbeat was last written here. */
  echoedAt: Moment | null = null
  #state: NodeState = WAITING
  /** The reading of a leader that has resigned; `null` once other lists are served. */
  #resigned: OwnReading | null = null
  /** Monotonic ms: until then this instance claims nothing, because it has just resigned. */
  #restsUntilMs = Number.NEGATIVE_INFINITY
  readonly #time: Time
  readonly #nonces: OwnNonces
  #nonceAt: Moment | null = null
  #heartbeatAt: Moment
  /** What was reported of a maximum age that is too short; `null` while it is long enough. */
  #toldTooShort: string | null = null
  readonly #begun: Moment
  /** All lists that this instance follows refer to this object. */
  readonly #link = { isLost: false }

  constructor(options: ClusterOptions) {
    this.options = options
    const { time, draw, signing, settings, heartbeat, newLists } = options
    this.#time = time
    this.accepting = new Accepting(time)
    this.#heartbeatAt = this.#begun = time.now()
    this.instance = drawName(draw)
    const nonces = (this.#nonces = new OwnNonces(this.instance, draw, time, signing))
    this.election = new ElectionTimer(time, settings, heartbeat)
    this.log = new LogReader(options, this.election)
    const link = this.#link
    this.resync = new Resync(options, this.log, nonces, link)
    const until = { ...NOWHERE, number: 1 }
    const nothing = { lists: newLists(), time, nonces, heartbeat, link, position: NOWHERE, until }
    this.cutOver = new CutOver(new FollowedLists(nothing), time)
  }

  get state(): NodeState {
    return this.#state
  }

  get role(): ClusterStatus['role'] {
    if (this.#state.kind === 'leading') return 'leader'
    if (this.own !== null) return 'standalone'
    return this.#reached === null ? 'waiting' : 'follower'
  }

  /** Reads the CRM here, as leader or standalone. */
  get own(): OwnReading | null {
    return ownOf(this.#state)
  }

  get publisher(): Publisher | null {
    return this.#state.kind === 'leading' ? this.#state.publisher : null
  }

  get snapshots(): SnapshotMaker | null {
    return this.#state.kind === 'leading' ? this.#state.snapshots : null
  }

  /** The lists that follow the log, whether or not they are served yet; `null` if none do. */
  get target(): FollowedLists | null {
    return listsOf(this.#state)
  }

  get #reached(): FollowedLists | null {
    return this.target?.isReached === true ? this.target : null
  }

  /** The last entry written or applied here; `null` while nothing is followed. */
  get position(): LogPosition | null {
    return (this.publisher ?? this.target)?.position ?? null
  }

  get candidates(): readonly string[] {
    return this.heartbeat?.candidates ?? []
  }

  /** Whether this instance could read the CRM now, and has not just resigned. */
  get mayRead(): boolean {
    return this.isFit && this.#time.now().monotonicMs >= this.#restsUntilMs
  }

  /** What is wrong with the store's content, and what Marquee does about it; `null` if nothing is. */
  get trouble(): string | null {
    const { log, publisher, snapshots, role, resync } = this
    if (log.trouble !== null) return log.trouble
    if (publisher !== null) return snapshots?.failure ?? publisher.refusedNonces
    if (role !== 'waiting') return null
    if (resync.why !== null) return `${resync.why}; ${ASKED} another`
    // Otherwise the snapshot is being loaded, or will be soon.
    if (!resync.foundNone || elapsedMs(this.#begun, this.#time.now()) < this.election.lengthMs) return null
    if (!this.election.isSilent) return `${NO_DATA}; ${ASKED} a snapshot`
    return `${NO_DATA}, and no instance leads${this.isFit ? '' : ', and this one cannot read the CRM'}`
  }

  connected(isConnected: boolean): void {
    this.isConnected = isConnected
    this.#link.isLost = !isConnected
    if (!isConnected) for (const list of [this.cutOver.served.events, this.cutOver.served.venues]) list.help()
  }

  /** Notes that another instance writes to the log, or leaves it. */
  heard({ head }: LogEntry): void {
    this.log.unusable.moved()
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
    const needsNone = this.publisher !== null || this.isStoreFull
    await session
      .ask((store) => store.writeField('nonces', this.instance, nonce))
      .catch((cause: unknown) => {
        // The leader drops the key of another application, and makes room in a full store; for that, it needs no nonce.
        if (!isFault(cause, 'foreign') && !(isFault(cause, 'full') && needsNone)) throw cause
      })
  }

  /** Reports that the maximum age here is too short for the leader's reads, once until one of the two changes. */
  compareMaxAge({ refreshEveryMs }: HeartbeatEntry): void {
    const { settings, observe } = this.options
    const { maxAgeMs } = settings
    const isTooShort = maxAgeMs < 2 * refreshEveryMs
    const why = `it is ${maxAgeMs / 1000} s, but must be at least twice the interval at which the leader reads (${refreshEveryMs / 1000} s)`
    if (isTooShort && this.#toldTooShort !== why)
      observe({ kind: 'cluster-changed', what: 'max-age-too-short', detail: why })
    this.#toldTooShort = isTooShort ? why : null
  }

  /** Notes a heartbeat that was written here, or applied to the lists. */
  noteHeartbeat(head: HeartbeatEntry, lists: FollowedLists | null = null): void {
    this.heartbeat = head
    this.echoedAt = lists === null ? this.#time.now() : (lists.echoedAt ?? this.echoedAt)
    if (lists === null) return
    this.#heartbeatAt = laterOf(this.#heartbeatAt, lists.heartbeatAt)
    this.accepting.told(head.accepted, lists.shrunk)
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

  #canAnswer(): boolean {
    const { events, venues } = this.cutOver.served
    const now = this.#time.now()
    return [events, venues].every((list) => (list.ageMs(now) ?? Infinity) <= this.options.settings.maxAgeMs)
  }

  /** Follows the log from a loaded snapshot. */
  follows(lists: FollowedLists): void {
    this.#state = withLists(this.#state, lists)
  }

  /** Stops following: the log cannot be followed further from here. */
  lose(lists: FollowedLists, why: string): void {
    this.cutOver.look()
    this.#state = withLists(withoutClaim(this.#state), null)
    if (!lists.isReached || lists.isBroken) this.resync.reject(why)
    if (lists.isReached) this.resync.lost(why, this.#canAnswer())
  }

  /** Notes a claim before it is sent. */
  claims(position: LogPosition, newLog: boolean): void {
    const before = withoutClaim(this.#state)
    if (before.kind !== 'leading') this.#state = { kind: 'claiming', position, newLog, before }
  }

  /** Forgets a claim that is not in the log. */
  unclaim(): void {
    this.#state = withoutClaim(this.#state)
  }

  /** Notes an accepted claim. This instance leads once it has read everything before it. */
  won({ position, newLog }: { readonly position: LogPosition; readonly newLog: boolean }): void {
    if (newLog) this.takeOver(position, true)
  }

  /** Becomes leader: the claim is in the log, and everything before it has been applied. */
  takeOver(position: LogPosition, newLog: boolean): void {
    const { options, instance, log } = this
    const own = this.own ?? this.#readHere()
    const publisher = new Publisher(options, {
      instance,
      log,
      own,
      position,
      makeRoom: async (session) => this.snapshots?.makeRoom(session),
      isLogFull: () => this.snapshots?.isLogFull ?? false,
    })
    own.reportTo((observation) => publisher.note(observation))
    const snapshots = new SnapshotMaker(options, publisher, this.resync, newLog)
    this.#state = { kind: 'leading', own, publisher, snapshots }
    log.clear()
    this.resync.needsSnapshot = false
    this.offer()
    const detail = `epoch ${position.epoch}${newLog ? ', with a new log' : ''}`
    options.observe({ kind: 'cluster-changed', what: 'became-leader', detail })
  }

  /**
   * Starts to read the CRM from the lists that are held here, although the log may not be followed from them. The shrink
   * guard must know what is served: nothing is missing from lists that begin empty.
   */
  #readHere(): OwnReading {
    const { served } = this.cutOver
    const held = this.#reached ?? (served instanceof FollowedLists && served.isReached ? served : null)
    const resigned = held === null && this.#resigned?.replica === served ? this.#resigned : null
    resigned?.goOn()
    const own = resigned ?? new OwnReading(this.options, held)
    this.#resigned = null
    if (this.accepting.isSaid) this.accepting.answer(this.#acceptHere(own))
    return own
  }

  /** Starts to make snapshots of a new log. Those in the store are of no use for it. */
  startsLog(): void {
    const state = this.#state
    if (state.kind !== 'leading') return
    state.snapshots.end()
    this.#state = { ...state, snapshots: new SnapshotMaker(this.options, state.publisher, this.resync, true) }
  }

  /** Claims nothing for one maximum age, so that a failing CRM gets no more requests than from a single instance. */
  rest(): void {
    this.#restsUntilMs = this.#time.now().monotonicMs + this.options.settings.maxAgeMs
  }

  /** Stops leading. Continues to serve its own lists until `CutOver` finds the new leader's lists to be later. */
  resign(why: string): void {
    this.#resigned = this.own
    this.own?.end()
    this.snapshots?.end()
    this.#state = WAITING
    this.#heartbeatAt = this.#time.now()
    this.resync.begin(this.#canAnswer())
    this.options.observe({ kind: 'cluster-changed', what: 'lost-leadership', detail: why })
  }

  /**
   * Starts to read the CRM alone if this instance is a candidate and half the maximum age has passed without a
   * heartbeat. An instance without data does so sooner if the store is unreachable.
   */
  goAloneIfDue(): void {
    const { settings, readersWhenLost, observe } = this.options
    if (this.own !== null || !this.mayRead) return
    if (readersWhenLost !== Number.POSITIVE_INFINITY && !this.candidates.includes(this.instance)) return
    const hasNothing = !this.isConnected && this.cutOver.isNew
    const silentMs = elapsedMs(this.#heartbeatAt, this.#time.now())
    if (silentMs < (hasNothing ? this.election.lengthMs : settings.maxAgeMs / 2)) return
    const before = this.#state
    const alone = { kind: 'standalone', own: this.#readHere(), lists: null } as const
    // The rows read here lack the entries before a claim that continues the log.
    this.#state = before.kind === 'claiming' && before.newLog ? { ...before, before: alone } : alone
    this.resync.begin(false)
    this.offer()
    observe({ kind: 'cluster-changed', what: 'reads-alone', detail: null })
  }

  /** Serves the lists that are kept up to date here, if `CutOver` allows it. */
  offer(): void {
    const own = this.own
    const lists = this.#reached
    if (lists === null) {
      if (own !== null) this.cutOver.offer(own.replica)
      return
    }
    if (!this.cutOver.offer(lists)) return
    this.#resigned = null
    if (own === null || this.#state.kind === 'leading') return
    // The log is followed again, so this instance need not read the CRM.
    own.end()
    this.#state = withoutOwn(this.#state)
  }
}
