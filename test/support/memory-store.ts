import { Buffer } from 'node:buffer'
import type {
  Claim,
  Sizes,
  StoreConnection,
  StoredEntry,
  StoreFault,
  StoreState,
  Write,
} from '../../src/cluster/store.ts'
import { StoreFailure } from '../../src/cluster/store.ts'
import type { ListName } from '../../src/domain/field.ts'

/** The way of commands to a store, and its delays. */
export interface Wire {
  readonly name: string
  /** The delay in one direction, ms. */
  delayMs(): number
  /** Returns true if the answer of the next command is lost. */
  losesAnswer(): boolean
  /** Schedules an event outside the machine, which happens even if the machine is frozen. */
  inTheWorld(delayMs: number, then: () => void): void
  /** Schedules an event on this machine, which waits while the machine is frozen. */
  here(delayMs: number, then: () => void): void
  /** The connection is cut in both directions. */
  readonly isCut: boolean
  /** Returns how long the next write lies in a socket before the store gets it, ms. */
  lies?(): number
}

export interface Saved {
  readonly state: StoreState
  readonly log: readonly StoredEntry[]
  readonly rows: Readonly<Record<ListName, ReadonlyMap<string, Buffer>>>
  readonly members: ReadonlyMap<string, string>
}

interface Waiter {
  readonly after: number
  readonly answer: () => void
}

const EMPTY: StoreState = { token: '', seq: 0, epoch: 0, isReady: false, beat: null }

/** The cluster's store, in memory, with faults. Its scripts do what those of `redis/scripts.ts` do. */
export class MemoryStore {
  state: StoreState = EMPTY
  log: StoredEntry[] = []
  rows: Record<ListName, Map<string, Buffer>> = { events: new Map(), venues: new Map() }
  members: Map<string, string> = new Map()
  /** `swallows`: accepts connections and commands, and never answers. */
  health: 'up' | 'down' | 'swallows' = 'up'
  isFull = false
  /** Called with each entry and the name of its writer. */
  onAdded: (entry: StoredEntry, name: string) => void = () => {}
  /** Changes what is claimed, as a mutant does. */
  claiming: (claim: Claim) => Claim = (claim) => claim
  connections = 0
  generation = 0
  /** Connections up to this number are dead without notice. */
  #halfOpenUpTo = 0
  /** The highest number that the stream has had. */
  #lastSeq = 0
  #waiters: Waiter[] = []

  async connect(wire: Wire): Promise<StoreConnection> {
    await new Promise<void>((resolve, reject) => {
      if (wire.isCut || this.health === 'swallows') return
      wire.here(2 * wire.delayMs(), () => {
        if (this.health === 'down') reject(new StoreFailure('lost', 'connection refused'))
        else resolve()
      })
    })
    return new MemoryConnection(this, wire, this.generation, ++this.connections)
  }

  /** Simulates a proxy that has forgotten all connections without notice. New connections work. */
  halfOpen(): void {
    this.#halfOpenUpTo = this.connections
  }

  swallows(connection: number): boolean {
    return this.health === 'swallows' || connection <= this.#halfOpenUpTo
  }

  /** Breaks all connections. */
  breakConnections(): void {
    this.generation++
    this.#waiters = []
  }

  isBroken(generation: number): boolean {
    return generation !== this.generation || this.health === 'down'
  }

  save(): Saved {
    return {
      state: this.state,
      log: [...this.log],
      rows: { events: new Map(this.rows.events), venues: new Map(this.rows.venues) },
      members: new Map(this.members),
    }
  }

  /** Replaces the data by another server's. Connected clients notice nothing. */
  restore({ state, log, rows, members }: Saved): void {
    this.state = state
    this.log = [...log]
    this.#lastSeq = log.at(-1)?.seq ?? 0
    this.rows = { events: new Map(rows.events), venues: new Map(rows.venues) }
    this.members = new Map(members)
  }

  empty(): void {
    this.restore({ state: EMPTY, log: [], rows: { events: new Map(), venues: new Map() }, members: new Map() })
  }

  /** Removes all but the last entries. */
  cut(left: number): void {
    this.log = left === 0 ? [] : this.log.slice(-left)
  }

  /** Somebody adds an entry of their own, so that no lower number can be added. */
  stray(): void {
    this.#lastSeq += 1_000_000
    this.#push({ token: '', seq: this.#lastSeq, claim: null, rows: null, notes: '', beat: null })
  }

  claim(given: Claim, name: string): { readonly seq: number; readonly epoch: number } | null {
    const { token, seen, highest, after, isNew, who } = this.claiming(given)
    const { state } = this
    if (state.token !== seen.token || state.seq !== seen.seq) return null
    const seq = Math.max(seen.seq, after?.seq ?? highest.seq) + 1
    const epoch = Math.max(state.epoch, highest.epoch) + 1
    this.#add({ token, seq, claim: { epoch, after, who }, rows: null, notes: '', beat: null }, name)
    this.state = { ...state, token, seq, epoch, isReady: state.isReady && !isNew }
    if (isNew) this.rows = { events: new Map(), venues: new Map() }
    return { seq, epoch }
  }

  write({ at, beat, cutSeq, ready, notes, rows }: Write, name: string): Sizes | null {
    const { state } = this
    if (state.token !== at.token || state.seq !== at.seq) return null
    const seq = at.seq + 1
    const joined = rows.length === 0 ? null : Buffer.concat([...rows])
    this.#add({ token: at.token, seq, claim: null, rows: joined, notes, beat }, name)
    this.log = this.log.filter((entry) => entry.seq >= cutSeq)
    for (const row of rows) this.#put(row)
    this.state = { ...state, seq, beat: beat ?? state.beat, isReady: state.isReady || ready }
    return beat === null ? { events: 0, venues: 0 } : { events: this.rows.events.size, venues: this.rows.venues.size }
  }

  fill(token: string, rows: readonly Buffer[]): boolean {
    if (this.state.token !== token) return false
    this.#makeRoom()
    for (const row of rows) this.#put(row)
    return true
  }

  #put(row: Buffer): void {
    const kind = row[0] ?? 0
    const hash = this.rows[kind % 2 === 1 ? 'events' : 'venues']
    const id = row.toString('hex', 1, 17)
    if (kind > 4) hash.delete(id)
    else hash.set(id, row)
  }

  #add(entry: StoredEntry, name: string): void {
    this.#makeRoom()
    if (entry.seq <= this.#lastSeq) this.log = []
    this.#lastSeq = entry.seq
    this.#push(entry)
    this.onAdded(entry, name)
  }

  #push(entry: StoredEntry): void {
    this.log.push(entry)
    const waiting = this.#waiters
    this.#waiters = waiting.filter(({ after }) => entry.seq <= after)
    for (const { after, answer } of waiting) if (entry.seq > after) answer()
  }

  #makeRoom(): void {
    if (this.isFull) throw new StoreFailure('full', 'OOM command not allowed')
  }

  after(seq: number, count: number): readonly StoredEntry[] {
    return this.log.filter((entry) => entry.seq > seq).slice(0, count)
  }

  wait(after: number, answer: () => void): () => void {
    const waiter = { after, answer }
    this.#waiters.push(waiter)
    return () => (this.#waiters = this.#waiters.filter((one) => one !== waiter))
  }

  tick(instance: string, said: string): void {
    this.#makeRoom()
    this.members.set(instance, said)
  }
}

class MemoryConnection implements StoreConnection {
  readonly #store: MemoryStore
  readonly #wire: Wire
  readonly #generation: number
  readonly #number: number
  #isDestroyed = false
  /** Commands arrive and are answered in the order they were sent. */
  #there = Promise.resolve()
  readonly #failures = new Set<(cause: StoreFailure) => void>()

  constructor(store: MemoryStore, wire: Wire, generation: number, number: number) {
    this.#store = store
    this.#wire = wire
    this.#generation = generation
    this.#number = number
  }

  #ask<Value>(act: (answer: (value: Value) => void) => void, liesMs = 0): Promise<Value> {
    const wire = this.#wire
    const store = this.#store
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#failures.add(reject)
    const fail = (fault: StoreFault, message: string): void => reject(new StoreFailure(fault, message))
    const before = this.#there
    const { promise: there, resolve: arrived } = Promise.withResolvers<void>()
    this.#there = there
    const losesAnswer = wire.losesAnswer()
    const isCut = wire.isCut
    void before.then(() =>
      wire.inTheWorld(wire.delayMs() + liesMs, () => {
        arrived()
        if (isCut || wire.isCut || store.swallows(this.#number)) return
        if (store.isBroken(this.#generation)) {
          wire.here(wire.delayMs(), () => fail('lost', 'the connection is gone'))
          return
        }
        const answer = (value: Value): void => {
          if (losesAnswer || wire.isCut || store.swallows(this.#number)) return
          wire.here(wire.delayMs(), () => resolve(value))
        }
        try {
          act(answer)
        } catch (cause) {
          wire.here(wire.delayMs(), () => reject(cause))
        }
      }),
    )
    if (this.#isDestroyed) fail('lost', 'destroyed')
    void promise.catch(() => {}).then(() => this.#failures.delete(reject))
    return promise
  }

  state(): Promise<StoreState> {
    return this.#ask((answer) => answer(this.#store.state))
  }

  claim(claim: Claim): ReturnType<StoreConnection['claim']> {
    return this.#ask((answer) => answer(this.#store.claim(claim, this.#wire.name)), this.#wire.lies?.())
  }

  write(write: Write): Promise<Sizes | null> {
    return this.#ask((answer) => answer(this.#store.write(write, this.#wire.name)), this.#wire.lies?.())
  }

  fill(token: string, rows: readonly Buffer[]): Promise<boolean> {
    return this.#ask((answer) => answer(this.#store.fill(token, rows)))
  }

  readAfter(seq: number, waitMs: number, count: number): Promise<readonly StoredEntry[]> {
    return this.#ask((answer) => {
      const entries = this.#store.after(seq, count)
      if (entries.length > 0 || waitMs === 0) return answer(entries)
      const leave = this.#store.wait(seq, () => answer(this.#store.after(seq, count)))
      this.#wire.inTheWorld(waitMs, () => {
        leave()
        answer([])
      })
    })
  }

  /** Shows half of the rows at a time, so that others change between two answers. */
  scan(list: ListName, cursor: string): Promise<{ readonly cursor: string; rows: readonly Buffer[] }> {
    return this.#ask((answer) => {
      const half = Number(cursor)
      const rows = [...this.#store.rows[list]].filter(([id]) => Number.parseInt(id.slice(-1), 16) % 2 === half)
      answer({ cursor: half === 0 ? '1' : '0', rows: rows.map(([, row]) => row) })
    })
  }

  tick(instance: string, said: string): Promise<void> {
    return this.#ask((answer) => answer(this.#store.tick(instance, said)))
  }

  members(): Promise<ReadonlyMap<string, string>> {
    return this.#ask((answer) => answer(new Map(this.#store.members)))
  }

  dropMembers(instances: readonly string[]): Promise<void> {
    return this.#ask((answer) => {
      for (const instance of instances) this.#store.members.delete(instance)
      answer()
    })
  }

  destroy(): void {
    this.#isDestroyed = true
    for (const fail of this.#failures) fail(new StoreFailure('lost', 'destroyed'))
  }
}
