import { LISTS } from '../domain/field.ts'
import type { ClusterStatus } from '../operations/status.ts'
import { type Moment, type Time, elapsedMs, laterOf } from '../time/time.ts'
import { Accepting } from './accepting.ts'
import type { Beat } from './beat.ts'
import { CutOver } from './cut-over.ts'
import { CLAIMED_TIMEOUTS, ElectionTimer } from './election.ts'
import { FollowedLists } from './followed-lists.ts'
import { Leader } from './leader.ts'
import type { ClusterOptions } from './options.ts'
import { OwnReading } from './own-reading.ts'
import { type WritePosition, type Session, Traffic } from './store.ts'
import { OwnTicks } from './ticks.ts'

/** What one instance is. It changes by the methods of `Member` alone. */
type MemberState =
  /** Lists follow the leader, whether or not they are served yet; `null` if there is nothing to follow. */
  | { readonly kind: 'following'; readonly lists: FollowedLists | null }
  /** The instance reads the CRM for itself, because the store is lost, and follows the leader with other lists. */
  | { readonly kind: 'alone'; readonly own: OwnReading; readonly lists: FollowedLists | null }
  | { readonly kind: 'leading'; readonly leader: Leader }

const NOTHING = { token: '', seq: 0, epoch: 0 } as const

/** One instance of the cluster: its state, and every change of it. */
export class Member {
  readonly instance: string
  readonly options: ClusterOptions
  readonly election: ElectionTimer
  readonly cutOver: CutOver
  readonly accepting: Accepting
  readonly ticks: OwnTicks
  readonly traffic: Traffic = new Traffic()
  /** The highest that was ever seen here: a store that lost its data begins above it. */
  readonly highest: { epoch: number; seq: number } = { epoch: 0, seq: 0 }
  /** The number of claims seen. */
  claims = 0
  /** How often rows were loaded, by reason. */
  readonly loads: Map<string, number> = new Map()
  isConnected = false
  /** Whether this instance could read the CRM. */
  isFit = false
  /** The last beat that was applied or written here. */
  beat: Beat | null = null
  /** When the tick was noted that a beat last carried, or a beat was last written here. */
  echoedAt: Moment | null = null
  /** The token of whose rows this instance cannot use what it loaded. */
  lacks: string | null = null
  #state: MemberState = { kind: 'following', lists: null }
  /** The reading that has ended here, of a leader that was deposed or alone; `null` once other lists are served. */
  #deposed: OwnReading | null = null
  /** Monotonic ms: until then this instance claims nothing, because it could not read the CRM. */
  #restsUntilMs = Number.NEGATIVE_INFINITY
  readonly #time: Time
  #tickedAt: Moment | null = null
  /** When the store first failed since the last beat; `null` if it has not. */
  #lostAt: Moment | null = null
  #beatAt: Moment
  /** What was reported of a maximum age that is too short; `null` while it is long enough. */
  #toldTooShort: string | null = null
  /** All lists that this instance follows refer to this object. */
  readonly #link = { isLost: false }

  constructor(options: ClusterOptions) {
    this.options = options
    const { time, draw, settings, heartbeat, newLists } = options
    this.#time = time
    this.#beatAt = time.now()
    this.accepting = new Accepting(time)
    this.instance = draw(8)
    this.ticks = new OwnTicks(this.instance, time)
    this.election = new ElectionTimer(time, settings, heartbeat)
    this.cutOver = new CutOver(this.followed(newLists(), NOTHING), time)
  }

  /** Returns lists that follow the leader from a position. */
  followed(lists: FollowedLists['lists'], from: WritePosition & { readonly epoch: number }): FollowedLists {
    const { time, heartbeat } = this.options
    return new FollowedLists({ lists, time, ticks: this.ticks, heartbeat, link: this.#link, from })
  }

  get role(): ClusterStatus['role'] {
    const { kind } = this.#state
    if (kind === 'leading') return 'leader'
    if (kind === 'alone') return 'standalone'
    return this.target?.isReached === true ? 'follower' : 'waiting'
  }

  get leader(): Leader | null {
    return this.#state.kind === 'leading' ? this.#state.leader : null
  }

  /** Reads the CRM here, as leader or alone. */
  get own(): OwnReading | null {
    const state = this.#state
    return state.kind === 'leading' ? state.leader.own : state.kind === 'alone' ? state.own : null
  }

  /** The lists that follow the leader, whether or not they are served yet; `null` if none do. */
  get target(): FollowedLists | null {
    return this.#state.kind === 'leading' ? null : this.#state.lists
  }

  get #reached(): FollowedLists | null {
    return this.target?.isReached === true ? this.target : null
  }

  /** The last entry written or applied here; `null` while nothing is followed. */
  get position(): WritePosition | null {
    return (this.leader ?? this.target)?.position ?? null
  }

  get candidates(): readonly string[] {
    return (this.beat ?? this.target?.beat)?.candidates ?? []
  }

  /** Whether this instance could read the CRM now, and has not just left the leadership. */
  get mayRead(): boolean {
    return this.isFit && this.#time.now().monotonicMs >= this.#restsUntilMs
  }

  /** Why this instance has nothing to answer from although the store answers; `null` if it has, or will soon. */
  get trouble(): string | null {
    if (this.role !== 'waiting' || this.target !== null) return null
    if (this.lacks !== null) return 'the rows in the store cannot be used; the leader was asked for others'
    if (!this.election.isSilent) return null
    return `the store has no data yet, and no instance leads${this.isFit ? '' : '; this one cannot read the CRM'}`
  }

  connected(isConnected: boolean): void {
    this.isConnected = isConnected
    this.#link.isLost = !isConnected
    if (isConnected) return
    this.#lostAt ??= this.#time.now()
    for (const list of LISTS) this.cutOver.served[list].help()
  }

  /** Notes that the store was seen at a position. */
  saw({ epoch, seq }: { readonly epoch: number; readonly seq: number }): void {
    if (epoch > this.highest.epoch) this.claims++
    this.highest.epoch = Math.max(this.highest.epoch, epoch)
    this.highest.seq = Math.max(this.highest.seq, seq)
  }

  /** Writes a fresh tick if the last one is a heartbeat old, or was written on another connection. */
  async tick(session: Session, isNew = false): Promise<void> {
    const { version, heartbeat } = this.options
    const now = this.#time.now()
    if (!isNew && this.#tickedAt !== null && elapsedMs(this.#tickedAt, now) < heartbeat.ms) return
    this.#tickedAt = now
    const { isFit, lacks } = this
    const accepts = this.accepting.losses(this.#reached)
    const said = this.ticks.next({ version, isFit, heartbeatMs: heartbeat.ms, lacks, accepts })
    await session.ask((store) => store.tick(this.instance, said))
  }

  /** Notes a beat that was written here, or applied to the lists. */
  noteBeat(beat: Beat, lists: FollowedLists | null): void {
    this.beat = beat
    this.#lostAt = null
    if (lists === null) {
      this.echoedAt = this.#time.now()
      return
    }
    this.#compareMaxAge(beat)
    this.election.heartbeats(beat.heartbeatMs)
    this.echoedAt = lists.echoedAt ?? this.echoedAt
    this.#beatAt = laterOf(this.#beatAt, lists.beatAt)
    this.accepting.told(beat.accepted, lists)
    if (lists.isReached) this.lacks = null
  }

  /** Reports that the maximum age here is too short for the leader's reads, once until one of the two changes. */
  #compareMaxAge({ refreshEveryMs }: Beat): void {
    const { settings, observe } = this.options
    const { maxAgeMs } = settings()
    const isTooShort = maxAgeMs < 2 * refreshEveryMs
    const why = `it is ${maxAgeMs / 1000} s, but must be at least twice the interval at which the leader reads (${refreshEveryMs / 1000} s)`
    if (isTooShort && this.#toldTooShort !== why)
      observe({ kind: 'cluster-changed', what: 'max-age-too-short', detail: why })
    this.#toldTooShort = isTooShort ? why : null
  }

  /** Accepts the shorter lists for an operator. Returns the lists that were held back; `null` if no leader answers. */
  async accept(): Promise<readonly string[] | null> {
    return this.own === null ? this.accepting.say() : this.own.replica.acceptShorter()
  }

  /** Follows the leader from rows that were loaded. */
  follows(lists: FollowedLists): void {
    if (this.#state.kind !== 'leading') this.#state = { ...this.#state, lists }
    if (lists.beat !== null) this.election.heartbeats(lists.beat.heartbeatMs)
  }

  /** Stops following: these lists cannot be kept up to date, and others are loaded beside the served ones. */
  lose(lists: FollowedLists): void {
    if (this.#state.kind === 'leading' || this.#state.lists !== lists) return
    this.cutOver.look()
    this.#state = { ...this.#state, lists: null }
    // The rows of this token, or what was loaded of them, are of no use. The leader stores them again.
    if (lists.gap !== 'entries are missing') this.lacks = lists.position.token
    this.loads.set(lists.gap, (this.loads.get(lists.gap) ?? 0) + 1)
    this.options.observe({ kind: 'cluster-changed', what: 'loads-again', detail: lists.gap })
  }

  /** Becomes the leader: the claim was accepted. `lists`: they are those in the store, and are read into from now on. */
  leads(claim: WritePosition & { readonly epoch: number; readonly isNew: boolean }, lists: FollowedLists | null): void {
    const { options, instance, traffic } = this
    const { token, seq, epoch, isNew } = claim
    this.saw(claim)
    const own = this.own ?? this.#readFrom(lists)
    const leader = new Leader(options, {
      instance,
      own,
      traffic,
      epoch,
      isNew,
      position: { token, seq },
      wrote: (beat) => this.noteBeat(beat, null),
      mayRest: () => this.mayRead,
    })
    this.#state = { kind: 'leading', leader }
    this.lacks = null
    own.start()
    this.offer()
    if (this.accepting.isSaid) this.accepting.answer(own.replica.acceptShorter())
    const detail = `epoch ${epoch}${isNew ? ', with rows of its own' : ''}`
    options.observe({ kind: 'cluster-changed', what: 'became-leader', detail })
  }

  /**
   * Reads the CRM into the lists that are held here, although they may not be followed any more. The shrink guard must
   * know what is served: nothing is missing from lists that begin empty.
   */
  #readFrom(lists: FollowedLists | null): OwnReading {
    const { target, cutOver } = this
    const { served } = cutOver
    const shown = served instanceof FollowedLists && served.isReached ? served : null
    const held = lists ?? this.#reached ?? shown ?? (target?.isWhole === true ? target : null)
    const deposed = held === null && this.#deposed?.replica === served ? this.#deposed : null
    this.#deposed = null
    return deposed ?? new OwnReading(this.options, held)
  }

  /** Claims nothing for one maximum age, so that a failing CRM gets no more requests than from a single instance. */
  rest(): void {
    this.#restsUntilMs = this.#time.now().monotonicMs + this.options.settings().maxAgeMs
  }

  /** Stops leading. Its own lists are served on until `CutOver` finds those of the next leader to be later. */
  resign(why: string): void {
    const { leader } = this
    if (leader === null) return
    leader.end()
    leader.own.end()
    this.#deposed = leader.own
    this.#state = { kind: 'following', lists: null }
    this.#beatAt = this.#time.now()
    this.election.heard()
    this.options.observe({ kind: 'cluster-changed', what: 'lost-leadership', detail: why })
  }

  /** How long no beat may arrive, in ms, until this instance reads the CRM alone. */
  get #patienceMs(): number {
    const { maxAgeMs } = this.options.settings()
    const { lengthMs, isSilent } = this.election
    const { isNew } = this.cutOver
    if (!this.isConnected) return isNew ? lengthMs : maxAgeMs / 2
    // Somebody writes to the store: a leader is alive, and may be filling it.
    if (!isSilent) return isNew ? Infinity : maxAgeMs
    // An instance without data has nothing to lose until it claims, unless the store refuses that.
    return isNew ? CLAIMED_TIMEOUTS * lengthMs : maxAgeMs / 2
  }

  goAloneIfDue(): void {
    const { readAlone, observe } = this.options
    if (this.own !== null || !this.mayRead || !readAlone) return
    // A start on a busy machine takes long to connect: that does not mean that the store is lost.
    const since = this.isConnected || !this.cutOver.isNew ? this.#beatAt : this.#lostAt
    if (since === null || elapsedMs(since, this.#time.now()) < this.#patienceMs) return
    // From here on the lists that were followed are read into: no entry may be applied to them.
    const own = this.#readFrom(null)
    this.#state = { kind: 'alone', own, lists: null }
    own.start()
    this.offer()
    observe({ kind: 'cluster-changed', what: 'reads-alone', detail: null })
  }

  /** Serves the lists that are kept up to date here, if `CutOver` allows it. */
  offer(): void {
    const { own } = this
    const lists = this.#reached
    if (lists === null) {
      if (own !== null) this.cutOver.offer(own.replica)
      return
    }
    if (this.#state.kind === 'alone' && this.#isWithinMaxAge(lists)) {
      // A leader is followed again. Reads that went on here would keep its lists from being the later ones.
      this.#state.own.end()
      this.#deposed = this.#state.own
      this.#state = { kind: 'following', lists }
    }
    if (this.cutOver.offer(lists)) this.#deposed = null
  }

  #isWithinMaxAge(lists: FollowedLists): boolean {
    const now = this.#time.now()
    return LISTS.every((list) => (lists[list].ageMs(now) ?? Infinity) <= this.options.settings().maxAgeMs)
  }
}
