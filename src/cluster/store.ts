// The room of what several instances share: one reads the CRM and writes to a store what that changed, the others follow it.
// In: a store by this port, a CRM, and what is held (replica). Out: what to answer from now (cluster.ts), and how old that is (nonces.ts).
// The store is never asked during a request, and no clock is compared with another.

/** A store as this room needs it; Redis or Valkey in earnest. */
export interface Store {
  /** One connection of its own: no command is queued, repeated or sent again by it. */
  connect(): Promise<StoreConnection>
}

/** An entry of the log: its head (JSON), its body, and the signature of both. */
export interface StoredEntry {
  /** `<epoch>-<number>`. */
  readonly id: string
  readonly h: string
  readonly b: Uint8Array | null
  readonly s: string | null
}

/** The keys that are not blobs. */
export type StoreKey = 'log' | 'nonces' | 'snapshots'

/** `refused`: the id is not above the top. `no-log`: there is none, and it was not to be created. */
export type Appended = 'added' | 'refused' | 'no-log'

/** Every command fails soon after `destroy`; how long one may take otherwise is for `Session` to limit. */
export interface StoreConnection {
  append(entry: StoredEntry, mayCreate: boolean): Promise<Appended>
  /** What follows `id`, in order, at most so many; waits that long if nothing does. */
  readAfter(id: string, waitMs: number, count: number): Promise<readonly StoredEntry[]>
  /** Whether an entry is added to the log within that time. Nothing is read that was there before, however large it is. */
  moves(waitMs: number): Promise<boolean>
  /** From `id` on, itself included. */
  readFrom(id: string, count: number): Promise<readonly StoredEntry[]>
  /** The last entry; null where there is no log. */
  top(): Promise<StoredEntry | null>
  /** Lets go of what lies before `id`. */
  trimBefore(id: string): Promise<void>
  drop(key: StoreKey): Promise<void>
  putBlob(name: string, bytes: Uint8Array): Promise<void>
  getBlob(name: string): Promise<Uint8Array | null>
  /** How many of them there are. */
  countBlobs(names: readonly string[]): Promise<number>
  dropBlobs(names: readonly string[]): Promise<void>
  writeNonce(instance: string, text: string): Promise<void>
  /** Null if there are more than `most`. */
  readNonces(most: number): Promise<ReadonlyMap<string, string> | null>
  dropNonces(instances: readonly string[]): Promise<void>
  /** Enters a snapshot that is being written, with how many chunks it has so far. */
  noteSnapshot(name: string, chunks: number): Promise<void>
  /** The chunks of each snapshot that was entered, by its name; null if there are more than `most`. */
  readSnapshots(most: number): Promise<ReadonlyMap<string, number> | null>
  forgetSnapshots(names: readonly string[]): Promise<void>
  ping(): Promise<void>
  /** Whether this is the server that writes are decided on, and not a copy of it. */
  isPrimary(): Promise<boolean>
  destroy(): void
}

/**
 * `full`: there is no room to write. `refused`: what we are or ask is not allowed. `foreign`: the key holds what another application
 * wrote. `late`: no answer came within the limit. `lost`: anything else.
 */
export type StoreFault = 'full' | 'refused' | 'foreign' | 'late' | 'lost'

export class StoreFailure extends Error {
  readonly fault: StoreFault

  constructor(fault: StoreFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreFailure'
    this.fault = fault
  }
}
