import { Buffer } from 'node:buffer'
import type { Appended, FieldsKey, StoredEntry, StoreConnection, StoreFault } from '../../src/cluster/store.ts'
import { StoreFailure } from '../../src/cluster/store.ts'

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
  /** Rewrites an entry as another release would write it. */
  rewritten?(entry: StoredEntry): StoredEntry
}

interface Saved {
  readonly log: readonly StoredEntry[] | null
  readonly blobs: ReadonlyMap<string, Buffer>
  readonly nonces: ReadonlyMap<string, string>
  readonly snapshots: ReadonlyMap<string, string>
}

interface Waiter {
  readonly after: string
  readonly answer: (entries: readonly StoredEntry[]) => void
}

/** The server of one or several stores. Its faults concern all of them. */
class MemoryServer {
  state: 'up' | 'down' | 'swallows' = 'up'
  isFull = false
  connections = 0
  generation = 0
  /** Connections up to this number are dead without notice. */
  halfOpenUpTo = 0
}

/** The longest that a client waits for an answer to a command. */
const COMMAND_LIMIT_MS = 5500

/** The cluster's store port, implemented in memory, with faults. Entry ids are checked as Redis streams check them. */
export class MemoryStore {
  log: StoredEntry[] | null = null
  blobs: Map<string, Buffer> = new Map()
  nonces: Map<string, string> = new Map()
  snapshots: Map<string, string> = new Map()
  trueMs: () => number = () => 0
  /** Called with each read of the newest entry. */
  onTop: () => void = () => {}
  /** The offset of the server's clock. Another server has another offset. */
  #clockOffsetMs = 0
  readonly #addedAt = new Map<string, number>()
  /** Called with each added entry and the name of its writer. */
  onAdded: (entry: StoredEntry, name: string) => void = () => {}
  readonly #forged = new WeakSet<StoredEntry>()
  readonly #endless = new WeakSet<StoredEntry>()
  /** Keys of which the value is too large to be read in time, until they are written again. */
  readonly endlessKeys: Set<string> = new Set()
  #stuckAt = '0-0'
  /** When the log began, or lost an entry that nobody could use. */
  #usableSinceMs = 0
  /** For how long a client that looked before the log was usable may still drop it, ms. */
  settledMs = 0
  /** Called with the name of a client that drops a usable log. */
  onDropped: (name: string) => void = () => {}
  #waiters: Waiter[] = []
  readonly #server: MemoryServer

  /** @param beside another store of the same server */
  constructor(beside: MemoryStore | null = null) {
    this.#server = beside === null ? new MemoryServer() : beside.#server
  }

  /** `swallows`: accepts connections and commands, and never answers. */
  get state(): MemoryServer['state'] {
    return this.#server.state
  }

  set state(state: MemoryServer['state']) {
    this.#server.state = state
  }

  set isFull(isFull: boolean) {
    this.#server.isFull = isFull
  }

  async connect(wire: Wire): Promise<StoreConnection> {
    await new Promise<void>((resolve, reject) => {
      if (wire.isCut || this.state === 'swallows') return
      wire.here(2 * wire.delayMs(), () => {
        if (this.state === 'down') reject(new StoreFailure('lost', 'connection refused'))
        else resolve()
      })
    })
    return new MemoryConnection(this, wire, this.#server.generation, ++this.#server.connections)
  }

  /** Simulates a proxy that has forgotten all connections without notice. New connections work. */
  halfOpen(): void {
    this.#server.halfOpenUpTo = this.#server.connections
  }

  swallows(connection: number): boolean {
    return this.state === 'swallows' || connection <= this.#server.halfOpenUpTo
  }

  /** Breaks all connections. */
  breakConnections(): void {
    this.#server.generation++
    this.#waiters = []
  }

  isBroken(generation: number): boolean {
    return generation !== this.#server.generation || this.state === 'down'
  }

  save(): Saved {
    return {
      log: this.log === null ? null : [...this.log],
      blobs: new Map(this.blobs),
      nonces: new Map(this.nonces),
      snapshots: new Map(this.snapshots),
    }
  }

  clockMs(): number {
    return this.trueMs() + this.#clockOffsetMs
  }

  /** Records the server's time when it added a body. Used by a mutant only. */
  noteAdded(packed: Uint8Array | null): void {
    this.#addedAt.set(bodyKey(packed), this.clockMs())
  }

  addedAtMs(body: Uint8Array): number {
    return this.#addedAt.get(bodyKey(Buffer.concat([Buffer.alloc(4), body]))) ?? this.clockMs()
  }

  /** Replaces the data by another server's. Connected clients notice nothing. */
  restore({ log, blobs, nonces, snapshots }: Saved): void {
    this.#clockOffsetMs -= 20_000
    this.log = log === null ? null : [...log]
    this.#stuckAt = '0-0'
    this.blobs = new Map(blobs)
    this.nonces = new Map(nonces)
    this.snapshots = new Map(snapshots)
  }

  empty(): void {
    this.restore({ log: null, blobs: new Map(), nonces: new Map(), snapshots: new Map() })
  }

  loseTail(entries: number): void {
    if (this.log === null) return
    const kept = Math.max(1, this.log.length - entries)
    const isUsableAgain = this.log.slice(kept).some((entry) => this.#forged.has(entry))
    // A client may still wait for the entry, for as long as a command may take.
    if (isUsableAgain) this.#usableSinceMs = this.trueMs() + COMMAND_LIMIT_MS
    this.log = this.log.slice(0, kept)
  }

  append(entry: StoredEntry, mayCreate: boolean, name = ''): Appended {
    this.#makeRoom()
    if (this.log === null && !mayCreate) return 'no-log'
    const top = this.log?.at(-1)
    if (this.log !== null && !isAbove(entry.id, this.#stuckAt)) return 'refused'
    if (top !== undefined && !isAbove(entry.id, top.id)) return 'refused'
    this.#push(entry)
    this.onAdded(entry, name)
    return 'added'
  }

  /** Adds an entry that no instance wrote. */
  forge(entry: StoredEntry): void {
    this.#forged.add(entry)
    this.#push(entry)
  }

  /** Simulates a stranger that writes a later entry and removes it again. */
  stick(id: string): void {
    this.log ??= []
    this.#stuckAt = id
  }

  /** Removes all entries. The log stays, and with it the last id. */
  clear(): void {
    const top = this.log?.at(-1)
    if (top !== undefined && isAbove(top.id, this.#stuckAt)) this.#stuckAt = top.id
    if (this.log !== null) this.log = []
  }

  /** Makes the last entry too large to be read in time. */
  swell(entry: StoredEntry): void {
    this.forge(entry)
    this.#endless.add(entry)
  }

  isEndless(entries: readonly StoredEntry[]): boolean {
    return entries.some((entry) => this.#endless.has(entry))
  }

  drop(name: string): void {
    const top = this.log?.at(-1)
    const isOld = this.trueMs() - this.#usableSinceMs > this.settledMs
    const isOfUse = top !== undefined && !this.#forged.has(top) && !isAbove(this.#stuckAt, top.id)
    if (isOfUse && isOld) this.onDropped(name)
    this.log = null
    this.#stuckAt = '0-0'
  }

  #push(entry: StoredEntry): void {
    if (this.log === null) this.#usableSinceMs = this.trueMs()
    this.log ??= []
    this.log.push(entry)
    const waiting = this.#waiters
    this.#waiters = waiting.filter(({ after }) => !isAbove(entry.id, after))
    for (const { after, answer } of waiting) if (isAbove(entry.id, after)) answer([entry])
  }

  #makeRoom(): void {
    if (this.#server.isFull) throw new StoreFailure('full', 'OOM command not allowed')
  }

  after(id: string, count: number): readonly StoredEntry[] {
    return (this.log ?? []).filter((entry) => isAbove(entry.id, id)).slice(0, count)
  }

  wait(after: string, answer: Waiter['answer']): () => void {
    const waiter = { after, answer }
    this.#waiters.push(waiter)
    return () => (this.#waiters = this.#waiters.filter((one) => one !== waiter))
  }

  trimBefore(id: string): void {
    this.log = this.log?.filter((entry) => !isAbove(id, entry.id)) ?? null
  }

  write(change: () => void): void {
    this.#makeRoom()
    change()
  }
}

function bodyKey(bytes: Uint8Array | null): string {
  return bytes === null ? '' : Buffer.from(bytes).toString('latin1')
}

/** Returns true if stream id `left` is above `right`. */
function isAbove(left: string, right: string): boolean {
  const [leftEpoch = 0, leftNumber = 0] = left.split('-').map(Number)
  const [rightEpoch = 0, rightNumber = 0] = right.split('-').map(Number)
  return leftEpoch === rightEpoch ? leftNumber > rightNumber : leftEpoch > rightEpoch
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

  #ask<Value>(act: (answer: (value: Value) => void) => void): Promise<Value> {
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
      wire.inTheWorld(wire.delayMs(), () => {
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

  append(entry: StoredEntry, mayCreate: boolean): Promise<Appended> {
    const wire = this.#wire
    return this.#ask((answer) => answer(this.#store.append(wire.rewritten?.(entry) ?? entry, mayCreate, wire.name)))
  }

  readAfter(id: string, waitMs: number, count: number): Promise<readonly StoredEntry[]> {
    return this.#ask((answer) => {
      const send = (entries: readonly StoredEntry[]): void => {
        if (!this.#store.isEndless(entries)) answer(entries)
      }
      const entries = this.#store.after(id, count)
      if (entries.length > 0) return send(entries)
      const leave = this.#store.wait(id, send)
      this.#wire.inTheWorld(waitMs, () => {
        leave()
        answer([])
      })
    })
  }

  async moves(waitMs: number): Promise<boolean> {
    return this.#ask((answer) => {
      const leave = this.#store.wait(this.#store.log?.at(-1)?.id ?? '0-0', () => answer(true))
      this.#wire.inTheWorld(waitMs, () => {
        leave()
        answer(false)
      })
    })
  }

  readFrom(id: string, count: number): Promise<readonly StoredEntry[]> {
    return this.#ask((answer) => {
      answer((this.#store.log ?? []).filter((entry) => !isAbove(id, entry.id)).slice(0, count))
    })
  }

  top(): Promise<StoredEntry | null> {
    return this.#ask((answer) => {
      this.#store.onTop()
      const top = this.#store.log?.at(-1)
      if (top === undefined || !this.#store.isEndless([top])) answer(top ?? null)
    })
  }

  trimBefore(id: string): Promise<void> {
    return this.#ask((answer) => answer(this.#store.trimBefore(id)))
  }

  drop(keys: readonly string[]): Promise<void> {
    return this.#ask((answer) => {
      for (const key of keys) {
        if (key === 'log') this.#store.drop(this.#wire.name)
        else if (key === 'nonces' || key === 'snapshots') this.#store[key].clear()
        else this.#store.blobs.delete(key)
        this.#store.endlessKeys.delete(key)
      }
      answer()
    })
  }

  putBlob(name: string, bytes: Buffer): Promise<void> {
    return this.#ask((answer) => {
      this.#store.endlessKeys.delete(name)
      answer(this.#store.write(() => this.#store.blobs.set(name, bytes)))
    })
  }

  getBlob(name: string): Promise<Buffer | null> {
    return this.#ask((answer) => {
      if (!this.#store.endlessKeys.has(name)) answer(this.#store.blobs.get(name) ?? null)
    })
  }

  countBlobs(names: readonly string[]): Promise<number> {
    return this.#ask((answer) => answer(names.filter((name) => this.#store.blobs.has(name)).length))
  }

  writeField(key: FieldsKey, name: string, text: string): Promise<void> {
    return this.#ask((answer) => answer(this.#store.write(() => this.#store[key].set(name, text))))
  }

  readFields(key: FieldsKey, most: number): Promise<ReadonlyMap<string, string> | null> {
    return this.#ask((answer) => {
      if (this.#store.endlessKeys.has(key)) return
      answer(this.#store[key].size > most ? null : new Map(this.#store[key]))
    })
  }

  dropFields(key: FieldsKey, names: readonly string[]): Promise<void> {
    return this.#ask((answer) => {
      for (const name of names) this.#store[key].delete(name)
      answer()
    })
  }

  ping(): Promise<void> {
    return this.#ask((answer) => answer())
  }

  isPrimary(): Promise<boolean> {
    return this.#ask((answer) => answer(true))
  }

  destroy(): void {
    this.#isDestroyed = true
    for (const reject of this.#failures) reject(new StoreFailure('lost', 'destroyed'))
    this.#failures.clear()
  }
}
