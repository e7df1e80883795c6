// The port to the store that the instances of a cluster share. Requests to Marquee never wait for it.

/** A store; Redis or Valkey in production. */
export interface Store {
  /** Opens a separate connection. It must not queue or repeat commands. */
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

/** `refused`: the id is not above the last one. `no-log`: there is no log, and it was not to be created. */
export type Appended = 'added' | 'refused' | 'no-log'

/** After `destroy`, every command fails soon. `Session` sets the time limits. */
export interface StoreConnection {
  append(entry: StoredEntry, mayCreate: boolean): Promise<Appended>
  /** Reads up to `count` entries after `id`; waits up to `waitMs` if there are none. */
  readAfter(id: string, waitMs: number, count: number): Promise<readonly StoredEntry[]>
  /**
   * Waits for an entry to be added to the log; returns whether one was. Reads no earlier entries, however large they
   * are.
   */
  moves(waitMs: number): Promise<boolean>
  /** Reads from `id` on, inclusive. */
  readFrom(id: string, count: number): Promise<readonly StoredEntry[]>
  /** Returns the last entry; `null` if there is no log. */
  top(): Promise<StoredEntry | null>
  /** Removes the entries before `id`. */
  trimBefore(id: string): Promise<void>
  drop(key: StoreKey): Promise<void>
  putBlob(name: string, bytes: Uint8Array): Promise<void>
  getBlob(name: string): Promise<Uint8Array | null>
  /** Returns how many of these blobs exist. */
  countBlobs(names: readonly string[]): Promise<number>
  dropBlobs(names: readonly string[]): Promise<void>
  writeNonce(instance: string, text: string): Promise<void>
  /** Returns all nonces; `null` if there are more than `most`. */
  readNonces(most: number): Promise<ReadonlyMap<string, string> | null>
  dropNonces(instances: readonly string[]): Promise<void>
  /** Adds a snapshot that is being written to the list of snapshots, with its number of chunks so far. */
  noteSnapshot(name: string, chunks: number): Promise<void>
  /** Returns the number of chunks of each entered snapshot; `null` if there are more than `most`. */
  readSnapshots(most: number): Promise<ReadonlyMap<string, number> | null>
  forgetSnapshots(names: readonly string[]): Promise<void>
  ping(): Promise<void>
  /** Returns true if this server is the primary, not a replica. */
  isPrimary(): Promise<boolean>
  destroy(): void
}

/**
 * `full`: there is no room to write. `refused`: our user or command is not allowed. `foreign`: the key has data of
 * another application. `late`: no answer within the time limit. `lost`: anything else.
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
