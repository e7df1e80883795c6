import { LISTS, type ListName } from '../domain/field.ts'
import type { Observation } from '../observe/observation.ts'
import { type Moment, elapsedMs } from '../time/time.ts'
import { withTimeout } from '../time/waiting.ts'
import { type Beat, type ReportedStates, encodeBeat } from './beat.ts'
import type { ClusterOptions } from './options.ts'
import { Outbox, type OwnReading, type UnsentRows, failsForMs, fillingParts, stateOf } from './own-reading.ts'
import type { Buffer } from 'node:buffer'
import type { WritePosition, Session, Sizes, StoreState, Traffic } from './store.ts'
import { Members } from './ticks.ts'

/** Changes within this time are written in one entry. */
const COALESCED_MS = 2
/** The entries that are written before a beat, at most. Until all rows are written, the age of the data is unknown. */
const MOST_ENTRIES = 50
/** The least bytes of the stream that are kept, for those who fall behind. */
const KEPT_BYTES = 8 * 1024 * 1024
/** How often the hashes are filled again at the word of an instance that cannot use them. */
const REFILL_MS = 60_000
const MOST_ACCEPTED = 20

/** What was sent and not answered: the state of the store shows whether it arrived. */
type Unanswered = { readonly token: string } | { readonly taken: UnsentRows | null }

/** What ends a turn of the leader: another has claimed, or there is a reason to go. */
export type Ended = 'deposed' | 'it stops' | 'the CRM cannot be read from here'

interface LeaderParts {
  readonly instance: string
  readonly own: OwnReading
  readonly traffic: Traffic
  /** The claim that was accepted, and whether it fills the hashes anew. */
  readonly position: WritePosition
  readonly epoch: number
  readonly isNew: boolean
  readonly wrote: (beat: Beat) => void
  readonly mayRest: () => boolean
}

/** Reads the CRM for all, and writes what changes to the store. */
export class Leader {
  readonly own: OwnReading
  readonly outbox: Outbox
  /** The last write that is known to be in the store. */
  position: WritePosition
  epoch: number
  readonly #options: ClusterOptions
  readonly #parts: LeaderParts
  readonly #members: Members
  readonly #begunAt: Moment
  #unanswered: Unanswered | null = null
  /** What the hashes still lack; `null` if they are whole, and a beat may say so. */
  #filling: Generator<readonly Buffer[], void> | null = null
  /** The beat that said so is in the store. */
  #isReady: boolean
  /** The claim that made this a leader was answered just now. */
  #isFresh = true
  /** Whether the next claim fills the hashes anew. */
  #refills = false
  #refilledMs = Number.NEGATIVE_INFINITY
  #losses: Partial<Record<ListName, string>> = {}
  #accepted: readonly string[] = []
  readonly #written: { readonly seq: number; readonly bytes: number }[] = []
  #writtenBytes = 0

  constructor(options: ClusterOptions, parts: LeaderParts) {
    const { own, position, epoch, isNew } = parts
    this.#options = options
    this.#parts = parts
    this.own = own
    this.position = position
    this.epoch = epoch
    this.#members = new Members(options.time)
    this.#begunAt = options.time.now()
    // In one turn with the claim and before any read, so that no change is missed.
    this.outbox = new Outbox(own.replica, options.time)
    this.#isReady = !isNew
    if (isNew) this.#filling = fillingParts(own.replica.lists, this.outbox.lists)
    own.reportTo((observation) => this.#note(observation))
  }

  end(): void {
    this.outbox.end()
  }

  /** The number of changes that are not known to be in the store. */
  get unsent(): number {
    return this.outbox.count + (this.#unanswered === null ? 0 : 1)
  }

  #note(observation: Observation): void {
    // A list that is believed again and shrinks once more has another loss.
    for (const list of LISTS) if (this.own.replica[list].shrunk === null) delete this.#losses[list]
    this.outbox.note(observation)
    this.#collectLoaded()
  }

  /** Leads on a new session, until it fails. The state of the store shows who has written meanwhile. */
  async lead(session: Session, signal: AbortSignal): Promise<Ended> {
    const { time, heartbeat } = this.#options
    const isFresh = this.#isFresh
    this.#isFresh = false
    if (!isFresh && !(await this.#goOn(session))) return 'deposed'
    for (let beatAtMs = Number.NEGATIVE_INFINITY; ;) {
      const nowMs = time.now().monotonicMs
      const isOver = signal.aborted ? 'it stops' : this.#mustGo() ? 'the CRM cannot be read from here' : null
      let isWritten = !this.#refills
      if (!isWritten) beatAtMs = nowMs
      else if (isOver !== null || nowMs - beatAtMs >= heartbeat.ms) {
        beatAtMs = nowMs
        isWritten = await this.#beat(session, isOver !== null)
        if (isOver !== null && isWritten) return isOver
      } else if (this.outbox.count > 0) isWritten = await this.#writeRows(session)
      else if (this.#filling !== null) {
        isWritten = await this.#fill(session)
        // Somebody may wait for the word that all is there.
        if (this.#filling === null) beatAtMs = Number.NEGATIVE_INFINITY
      }
      if (!isWritten && !(await this.#goOn(session))) return 'deposed'
      const leftMs = Math.max(0, beatAtMs + heartbeat.ms - time.now().monotonicMs)
      if (this.#filling === null) await this.#untilUnsent(leftMs, signal)
    }
  }

  async #untilUnsent(leftMs: number, signal: AbortSignal): Promise<void> {
    const { time } = this.#options
    const unsent = new Promise<void>((resolve) => this.outbox.onUnsent(() => time.after(COALESCED_MS, resolve)))
    await withTimeout(time, this.outbox.count > 0 ? Math.min(COALESCED_MS, leftMs) : leftMs, unsent, signal)
  }

  /** Whether reads fail here for so long that another should try. */
  #mustGo(): boolean {
    const { settings, time } = this.#options
    const now = time.now()
    const { maxAgeMs } = settings()
    if (failsForMs(this.own.replica, elapsedMs(this.#begunAt, now), maxAgeMs / 4, now) < maxAgeMs / 2) return false
    return this.#members.candidates(this.#parts.instance).length > 0 && this.#parts.mayRest()
  }

  /**
   * Takes a new token, because nobody knows what became of the last write. Returns false if another instance leads.
   */
  async #goOn(session: Session): Promise<boolean> {
    for (;;) {
      const state = await session.ask((store) => store.state())
      this.#settle(state)
      const isMine = state.token === this.position.token
      if (!isMine && state.token !== '' && state.epoch >= this.epoch) return false
      this.#collectLoaded()
      const isAsLeft = isMine && state.seq === this.position.seq && state.isReady && this.#filling === null
      // Nobody goes on from hashes that lack rows: somebody may have loaded them.
      const after = this.#refills ? null : this.position
      if (await this.#claim(session, state, after, !isAsLeft || this.#refills)) return true
    }
  }

  #collectLoaded(): void {
    if (!this.outbox.collectLoaded()) return
    // Followers have no row of a list that was read in full only now.
    this.#refills = true
    this.outbox.wake()
  }

  /** Fills the hashes again, with the next claim. */
  #refill(why: string): void {
    this.#refills = true
    this.#refilledMs = this.#options.time.now().monotonicMs
    this.#options.observe({ kind: 'cluster-changed', what: 'refills', detail: why })
  }

  /** Finds out whether what was not answered has arrived. */
  #settle(state: StoreState): void {
    const sent = this.#unanswered
    this.#unanswered = null
    if (sent === null) return
    if ('token' in sent) {
      if (state.token !== sent.token) return
      this.position = { token: state.token, seq: state.seq }
      this.epoch = state.epoch
    } else if (state.token === this.position.token && state.seq === this.position.seq + 1) {
      this.position = { token: state.token, seq: state.seq }
    } else if (sent.taken !== null) this.outbox.again(sent.taken)
  }

  async #claim(session: Session, seen: StoreState, after: WritePosition | null, isNew: boolean): Promise<boolean> {
    const token = this.#options.draw(8)
    const highest = { epoch: this.epoch, seq: this.position.seq }
    const { instance: who } = this.#parts
    this.#unanswered = { token }
    const claimed = await session.ask((store) => store.claim({ token, seen, highest, after, isNew, who }))
    this.#unanswered = null
    if (claimed === null) return false
    this.position = { token, seq: claimed.seq }
    this.epoch = claimed.epoch
    if (!isNew) return true
    this.#isReady = this.#refills = false
    this.#filling = fillingParts(this.own.replica.lists, this.outbox.lists)
    return true
  }

  /** Writes the next part of the hashes. Returns false if another instance leads. */
  async #fill(session: Session): Promise<boolean> {
    const part = this.#filling?.next()
    if (part === undefined || part.done === true) {
      this.#filling = null
      return true
    }
    const { token } = this.position
    return session.ask((store) => store.fill(token, part.value))
  }

  /** Writes the next rows. Returns false if another instance leads. */
  async #writeRows(session: Session): Promise<boolean> {
    const taken = this.outbox.next()
    return taken === null || (await this.#write(session, taken, null)) !== null
  }

  async #write(session: Session, taken: UnsentRows | null, beat: string | null): Promise<Sizes | null> {
    const at = this.position
    const { rows = [], notes = '' } = taken ?? {}
    this.#unanswered = { taken }
    const cutSeq = this.#written[0]?.seq ?? 0
    const ready = beat !== null && this.#filling === null
    const { count, lists } = this.outbox
    const isAll = count === 0 && lists.length === LISTS.length && !this.#refills
    const mark = this.#options.marking(this.own.replica.lists, isAll)
    const sizes = await session.ask((store) => store.write({ at, beat, cutSeq, ready, notes, rows }))
    this.#unanswered = null
    if (sizes === null) {
      if (taken !== null) this.outbox.again(taken)
      return null
    }
    this.position = { token: at.token, seq: at.seq + 1 }
    mark(this.position)
    if (ready) this.#isReady = true
    this.#count(rows.reduce((sum, { length }) => sum + length, (beat?.length ?? 0) + notes.length))
    return sizes
  }

  #count(bytes: number): void {
    const { events, venues } = this.own.replica.lists
    this.#parts.traffic.count('written', bytes)
    this.#written.push({ seq: this.position.seq, bytes })
    this.#writtenBytes += bytes
    const keptBytes = Math.max(KEPT_BYTES, (events.sizeBytes + venues.sizeBytes) / 2)
    for (
      let [first] = this.#written;
      first !== undefined && this.#writtenBytes - first.bytes > keptBytes;
      [first] = this.#written
    ) {
      this.#written.shift()
      this.#writtenBytes -= first.bytes
    }
  }

  /**
   * Writes the age of the data in the store. The ticks are read first, then the age is taken, then all rows are written
   * that were changed by then. Returns false if the leader must claim again.
   */
  async #beat(session: Session, leaves: boolean): Promise<boolean> {
    const { time, settings, heartbeat, version } = this.#options
    const { instance, wrote } = this.#parts
    const gone = this.#members.take(await session.ask((store) => store.members()))
    this.#accept()
    const states = this.#states(time.now())
    for (let left = MOST_ENTRIES; left > 0 && this.outbox.count > 0; left--) {
      if (!(await this.#writeRows(session))) return false
    }
    const isAllWritten = this.outbox.count === 0
    const { events, venues } = this.own.replica.lists
    const sizes = this.#sizes({ events: events.size, venues: venues.size })
    const beat: Beat = {
      leader: instance,
      lists: isAllWritten ? this.#leftBehindNow(states) : withoutAges(states),
      sizes: isAllWritten ? sizes : null,
      ticks: this.#members.ticks,
      instances: this.#members.count(instance),
      candidates: this.#members.candidates(instance),
      versions: this.#members.versions(version),
      refreshEveryMs: settings().refreshEveryMs,
      heartbeatMs: heartbeat.ms,
      accepted: this.#accepted.filter((loss) => this.#members.accepts.has(loss)),
      leaves,
    }
    // In one turn with the sizes, which are those of what is written by then.
    const stored = await this.#write(session, null, encodeBeat(beat))
    if (stored === null) return false
    wrote(beat)
    if (gone.length > 0) await session.ask((store) => store.dropMembers(gone))
    if (!leaves) this.#compare(beat, stored)
    return !this.#refills
  }

  /** Rows that refer to what a list lacks may have been written since these states were taken. */
  #leftBehindNow({ events, venues }: ReportedStates): ReportedStates {
    const { replica } = this.own
    return {
      events: { ...events, isLeftBehind: replica.events.isLeftBehind },
      venues: { ...venues, isLeftBehind: replica.venues.isLeftBehind },
    }
  }

  /** The hashes hold no rows of lists that were not read in full. */
  #sizes(sizes: Sizes): Sizes {
    const { lists } = this.outbox
    return {
      events: lists.includes('events') ? sizes.events : 0,
      venues: lists.includes('venues') ? sizes.venues : 0,
    }
  }

  /** Has the hashes filled again if they are not what the leader wrote. */
  #compare({ sizes }: Beat, stored: Sizes): void {
    this.#collectLoaded()
    if (!this.#isReady || this.#refills) return
    const isDue = this.#options.time.now().monotonicMs - this.#refilledMs >= REFILL_MS
    if (isDue && this.#members.lack(this.position.token)) this.#refill('an instance cannot use them')
    if (sizes === null || (sizes.events === stored.events && sizes.venues === stored.venues)) return
    const [held, left] = [sizes.events + sizes.venues, stored.events + stored.venues]
    this.#refill(`there are ${left} rows instead of ${held}`)
  }

  #states(now: Moment): ReportedStates {
    const { replica } = this.own
    const { token, seq } = this.position
    for (const list of LISTS) if (replica[list].shrunk !== null) this.#losses[list] ??= `${token}-${seq}`
    const state = (name: ListName): ReportedStates[ListName] => {
      const told = stateOf(replica, name, now, replica[name].shrunk === null ? null : (this.#losses[name] ?? null))
      // The rows of a list that was read in full only now are not written yet.
      return this.outbox.lists.includes(name) ? told : { ...told, whole: false, ageMs: null }
    }
    return { events: state('events'), venues: state('venues') }
  }

  /** Accepts the present losses that instances name. A loss that was named once accepts no later one. */
  #accept(): void {
    const { replica } = this.own
    const lists = LISTS.filter((list) => {
      const loss = this.#losses[list]
      return loss !== undefined && replica[list].shrunk !== null && this.#members.accepts.has(loss)
    })
    const accepted = lists.filter((list) => !replica[list].reader.guard.acceptsShorter)
    for (const list of accepted) replica[list].acceptShorter()
    if (accepted.length > 0) this.#options.observe({ kind: 'shorter-accepted', lists: accepted })
    this.#accepted = [...this.#accepted, ...lists.map((list) => this.#losses[list] ?? '')].slice(-MOST_ACCEPTED)
  }
}

function withoutAges({ events, venues }: ReportedStates): ReportedStates {
  return { events: { ...events, ageMs: null }, venues: { ...venues, ageMs: null } }
}
