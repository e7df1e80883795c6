import type { Appended, Store, StoreConnection, StoredEntry } from './store.ts'

/** What others are told of all instances with each beat. */
export interface FleetNews {
  /** The entry that said so. */
  readonly id: string
  readonly instances: number
  readonly versions: readonly string[]
  readonly standsIn: readonly string[]
  /** Who said it, who reads for all; null where it is of a release that did not say. */
  readonly reader: string | null
}

/** The base in the store, and since when it is known here. */
export interface KnownBase {
  readonly rows: number
  readonly bytes: number
  readonly atMs: number
}

export type Direction = 'written' | 'read'

const KINDS = ['claim', 'rows', 'read', 'beat', 'leave'] as const
const DIRECTIONS: readonly Direction[] = ['written', 'read']

type Fields = Partial<Record<string, unknown>>

/** A store that is looked at as it is used: what went there and back is counted, and what was last said of the fleet is kept. */
export class WatchedStore implements Store {
  /** By `kind direction`, all of them from the start. */
  readonly entries: Map<string, number> = new Map(
    KINDS.flatMap((kind) => DIRECTIONS.map((direction): [string, number] => [`${kind} ${direction}`, 0])),
  )
  readonly bytes: Record<Direction, number> = { written: 0, read: 0 }
  /** Claims that were seen, each a term of its own. */
  terms = 0
  /** Not verified: to be believed where the entry was. */
  fleet: FleetNews | null = null
  base: KnownBase | null = null
  /** Why no connection could be made; null since one was. */
  failure: string | null = null
  readonly #store: Store
  readonly #nowMs: () => number
  readonly #failed: (why: string) => void
  #topTerm = 0
  #manifest = ''

  constructor(store: Store, nowMs: () => number, failed: (why: string) => void) {
    this.#store = store
    this.#nowMs = nowMs
    this.#failed = failed
  }

  async connect(): Promise<StoreConnection> {
    try {
      const connection = await this.#store.connect()
      this.failure = null
      return new WatchedConnection(connection, this)
    } catch (cause) {
      this.failure = cause instanceof Error ? cause.message : 'the connection failed'
      this.#failed(this.failure)
      throw cause
    }
  }

  see({ id, h, b }: StoredEntry, direction: Direction): void {
    this.bytes[direction] += h.length + (b?.length ?? 0)
    const head = fieldsOf(h)
    const kind = KINDS.find((one) => one === head['kind'])
    if (kind === undefined) return
    const key = `${kind} ${direction}`
    this.entries.set(key, (this.entries.get(key) ?? 0) + 1)
    const term = Number(id.split('-')[0])
    if (kind === 'claim' && term > this.#topTerm) {
      this.#topTerm = term
      this.terms++
    }
    const { instance, instances, versions, standIns } = head
    if (kind !== 'beat' || typeof instances !== 'number') return
    this.fleet = { id, instances, versions: textsOf(versions), standsIn: textsOf(standIns), reader: textOf(instance) }
  }

  /** Of all blobs the one that describes the others is understood. */
  seeBlob(name: string, bytes: Uint8Array, direction: Direction): void {
    this.bytes[direction] += bytes.length
    if (name !== 'base') return
    const { manifest } = fieldsOf(new TextDecoder().decode(bytes))
    if (typeof manifest !== 'string' || manifest === this.#manifest) return
    this.#manifest = manifest
    const { chunks } = fieldsOf(manifest)
    const given: readonly unknown[] = Array.isArray(chunks) ? chunks : []
    const sum = (of: string): number => given.reduce<number>((total, chunk) => total + numberOf(chunk, of), 0)
    this.base = { rows: sum('rows'), bytes: sum('bytes'), atMs: this.#nowMs() }
  }
}

class WatchedConnection implements StoreConnection {
  readonly #connection: StoreConnection
  readonly #watch: WatchedStore

  constructor(connection: StoreConnection, watch: WatchedStore) {
    this.#connection = connection
    this.#watch = watch
  }

  async append(entry: StoredEntry, mayCreate: boolean): Promise<Appended> {
    const appended = await this.#connection.append(entry, mayCreate)
    if (appended === 'added') this.#watch.see(entry, 'written')
    return appended
  }

  async readAfter(id: string, waitMs: number): Promise<readonly StoredEntry[]> {
    const entries = await this.#connection.readAfter(id, waitMs)
    for (const entry of entries) this.#watch.see(entry, 'read')
    return entries
  }

  readFrom(id: string, count: number): Promise<readonly StoredEntry[]> {
    return this.#connection.readFrom(id, count)
  }

  top(): Promise<StoredEntry | null> {
    return this.#connection.top()
  }

  trimBefore(id: string): Promise<void> {
    return this.#connection.trimBefore(id)
  }

  dropLog(): Promise<void> {
    return this.#connection.dropLog()
  }

  async putBlob(name: string, bytes: Uint8Array): Promise<void> {
    await this.#connection.putBlob(name, bytes)
    this.#watch.seeBlob(name, bytes, 'written')
  }

  async getBlob(name: string): Promise<Uint8Array | null> {
    const bytes = await this.#connection.getBlob(name)
    if (bytes !== null) this.#watch.seeBlob(name, bytes, 'read')
    return bytes
  }

  dropBlobs(names: readonly string[]): Promise<void> {
    return this.#connection.dropBlobs(names)
  }

  writeMark(instance: string, text: string): Promise<void> {
    return this.#connection.writeMark(instance, text)
  }

  readMarks(): Promise<ReadonlyMap<string, string>> {
    return this.#connection.readMarks()
  }

  dropMarks(instances: readonly string[]): Promise<void> {
    return this.#connection.dropMarks(instances)
  }

  destroy(): void {
    this.#connection.destroy()
  }
}

/** The fields of what was JSON; none where it is anything else. */
function fieldsOf(json: string): Fields {
  try {
    const given: unknown = JSON.parse(json)
    return fieldsIn(given)
  } catch {
    return {}
  }
}

function fieldsIn(given: unknown): Fields {
  return typeof given === 'object' && given !== null ? Object.fromEntries(Object.entries(given)) : {}
}

function numberOf(given: unknown, name: string): number {
  const value = fieldsIn(given)[name]
  return typeof value === 'number' ? value : 0
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
