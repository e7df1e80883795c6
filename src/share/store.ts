// The room of what several instances share: one reads the CRM and writes to a store what that changed, the others follow it.
// In: a store by this port, a CRM, and what is held (replica). Out: what to answer from now (share.ts), and how old that is (marks.ts).
// The store is never asked during a request, and no clock is compared with another.

/** A store as this room needs it; Redis or Valkey in earnest. */
export interface Store {
  /** One connection of its own: no command is queued, repeated or sent again by it. */
  connect(): Promise<StoreConnection>
}

/** An entry of the log: its head (JSON), its body, and the signature of both. */
export interface StoredEntry {
  /** `<term>-<number>`. */
  readonly id: string
  readonly h: string
  readonly b: Uint8Array | null
  readonly s: string | null
}

/** `refused`: the id is not above the top. `no-log`: there is none, and it was not to be created. */
export type Appended = 'added' | 'refused' | 'no-log'

/** Every command fails soon after `destroy`; how long one may take otherwise is for `Session` to limit. */
export interface StoreConnection {
  append(entry: StoredEntry, mayCreate: boolean): Promise<Appended>
  /** What follows `id`, in order; waits that long where nothing does. */
  readAfter(id: string, waitMs: number): Promise<readonly StoredEntry[]>
  /** From `id` on, itself included. */
  readFrom(id: string, count: number): Promise<readonly StoredEntry[]>
  /** The last entry; null where there is no log. */
  top(): Promise<StoredEntry | null>
  /** Lets go of what lies before `id`. */
  trimBefore(id: string): Promise<void>
  dropLog(): Promise<void>
  putBlob(name: string, bytes: Uint8Array): Promise<void>
  getBlob(name: string): Promise<Uint8Array | null>
  /** How many of them there are. */
  countBlobs(names: readonly string[]): Promise<number>
  dropBlobs(names: readonly string[]): Promise<void>
  writeMark(instance: string, text: string): Promise<void>
  readMarks(): Promise<ReadonlyMap<string, string>>
  dropMarks(instances: readonly string[]): Promise<void>
  destroy(): void
}

/** `full`: there is no room to write. `refused`: what we are or ask is not allowed. `lost`: anything else, an answer that did not come too. */
export type StoreFault = 'full' | 'refused' | 'lost'

export class StoreFailure extends Error {
  readonly fault: StoreFault

  constructor(fault: StoreFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreFailure'
    this.fault = fault
  }
}
