import type { ListMaker } from '../records/row-records.ts'
import type { Configuration } from '../config/configuration.ts'
import type { Observation } from '../observe/observation.ts'
import type { ReadingStatus } from '../operations/status.ts'
import type { ChangeFeed } from '../changes/change-feed.ts'
import type { SnapshotKeeper } from '../snapshot/snapshot-keeper.ts'
import type { Crm } from '../sync/port.ts'
import { type ReplicaOptions, Replica } from '../sync/replica.ts'
import type { ServedLists } from '../sync/served-list.ts'
import type { Time } from '../time/time.ts'
import { withTimeout } from '../time/waiting.ts'

/** How this instance gets its lists: it reads the CRM itself, or is a member of a cluster. */
export interface Reading {
  /** Returns the lists that are served now. A cut-over replaces them: keep this function, not its result. */
  readonly lists: () => ServedLists
  start(): void
  /** Ends the reads and closes the CRM, then brings the snapshot up to date. */
  stop(): Promise<void>
  adopt(change: SettingsChange): void
  status(): ReadingStatus
  /** Resolves when both lists were read or could not be, or when the instance stops. */
  untilRead(): Promise<void>
  /**
   * Accepts shorter lists at the operator's request. Returns the names of the lists that were held back; `null` if no
   * leader answers.
   */
  acceptShorter(): Promise<readonly string[] | null>
}

export interface SettingsChange {
  /** Whether the bodies made so far are outdated. */
  readonly formatChanged: boolean
  /** Whether lists are kept in their order, for `/api/events` and for calendars. */
  readonly keepsIndexes: boolean
}

export interface ReadingOptions extends Omit<ReplicaOptions, 'lists' | 'resumeState'> {
  readonly listMaker: ListMaker
  readonly configuration: Configuration
  readonly keepsIndexes: boolean
  /** What callers are told of changes; absent if they are told nothing. */
  readonly changes?: ChangeFeed | undefined
}

/** How long a stop waits for running reads of the CRM. */
const LAST_READS_MS = 1000

/** Resolves when the reads have ended and the CRM is closed, or after a second. */
export async function endReads(reads: Promise<void>, crm: Crm, time: Time): Promise<void> {
  await withTimeout(time, LAST_READS_MS, Promise.all([reads, crm.close()]))
}

/** Returns true if the observation comes from aborting reads, not from a failure of the CRM. */
export function isCutOff(observation: Observation): boolean {
  if (observation.kind === 'read-ended') return observation.read.outcome !== 'ok'
  return observation.kind === 'cluster-changed' && observation.what === 'unfit'
}

/** Reads the CRM for this instance alone. */
export class DirectReading implements Reading {
  readonly replica: Replica
  readonly #options: ReadingOptions
  #keeper: SnapshotKeeper | null = null
  #isStopping = false

  constructor(options: ReadingOptions) {
    this.#options = options
    this.replica = new Replica({
      ...options,
      lists: options.listMaker.make(),
      observe: (observation) => {
        if (this.#isStopping && isCutOff(observation)) return
        options.observe(observation)
        this.#keeper?.note(observation)
      },
    })
    if (options.keepsIndexes) void this.replica.keepIndexes()
  }

  /** Creates a reading with its snapshot, if one is configured. */
  static async withSnapshot(options: ReadingOptions): Promise<DirectReading> {
    const reading = new DirectReading(options)
    const { configuration, limits, time, observe } = options
    if (configuration.snapshot === null) return reading
    // Imported on demand: start-up is faster without it.
    const { keepSnapshot } = await import('../snapshot/snapshot-keeper.ts')
    const { directory } = configuration.snapshot
    const { crm, changes } = options
    const { replica } = reading
    reading.#keeper = keepSnapshot({ directory, configuration, crm, replica, limits, time, observe, changes })
    return reading
  }

  readonly lists = (): ServedLists => this.replica

  /** Starts to read. The reads wait for the snapshot, even if a request asks for them first. */
  start(): void {
    void this.#keeper?.load()
    this.replica.start()
  }

  async stop(): Promise<void> {
    const { crm, time } = this.#options
    this.#isStopping = true
    await endReads(this.replica.stop(), crm, time)
    await this.#keeper?.stop()
  }

  adopt({ formatChanged, keepsIndexes }: SettingsChange): void {
    this.replica.applySettings(formatChanged)
    if (!keepsIndexes) this.replica.dropIndexes()
    // Requests for lists get 502 until the index is complete.
    else if (this.replica.events.list.order === null) void this.replica.keepIndexes()
  }

  status(): ReadingStatus {
    const keeper = this.#keeper
    return { snapshot: keeper?.onDisk() ?? null, snapshotError: keeper?.failure ?? null, cluster: null }
  }

  untilRead(): Promise<void> {
    return this.replica.untilRead()
  }

  async acceptShorter(): Promise<readonly string[]> {
    return this.replica.acceptShorter()
  }
}
