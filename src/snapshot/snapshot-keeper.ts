// Keeps the lists across restarts. In: the lists, and reports of their reads. Out: a snapshot file, and lists filled
// from it at the start, which the next read of changes confirms (docs/operations.md, The snapshot).

import type { Observation, Observe } from '../observe/observation.ts'
import { codeOf } from '../domain/system-error.ts'
import type { SnapshotState } from '../sync/served-list.ts'
import { LISTS } from '../domain/field.ts'
import { type RecordLists, DirtyRows } from '../records/row-records.ts'
import type { ChangeFeed } from '../changes/change-feed.ts'
import type { Crm } from '../sync/port.ts'
import type { Replica } from '../sync/replica.ts'
import { type Moment, type Time, elapsedMs } from '../time/time.ts'
import { TIMED_OUT, withTimeout, yieldToEventLoop } from '../time/waiting.ts'
import { type ReadSnapshot, type StoredSnapshot, SnapshotFile, emptyLists } from './snapshot-file.ts'
import { dataFingerprint } from './data-fingerprint.ts'
import { SnapshotFault } from './snapshot-lines.ts'
import type { Configuration } from '../config/configuration.ts'

interface SnapshotKeeperSettings {
  readonly file: SnapshotFile
  readonly replica: Replica
  readonly time: Time
  readonly observe: Observe
  /** What callers are told of changes; absent if they are told nothing. */
  readonly changes?: ChangeFeed | undefined
}

const LONGEST_MS = 60_000
/** How long a stop waits for the snapshot, then for the writing to give up, and the most rows with which it writes one. */
const LAST_MS = 1000
const GIVE_UP_MS = 100
const MOST_ROWS_AT_STOP = 200_000
/** What changed is on disk within this time. After a failure, this is how long the next try waits. */
const CHANGES_EVERY_MS = 300_000
/** The interval of snapshots if no row changes: cursors expire, and a snapshot is only as good as its cursors. */
const CURSORS_EVERY_MS = 3_600_000
/** After a kill, the next process errs by this much: it takes the lists for older, and shorter pauses are forgotten. */
const KNOWN_WITHIN_MS = 60_000
const LONG_PAUSE_MS = 30_000

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission is denied'],
  ['EPERM', 'permission is denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOENT', 'its directory cannot be created'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the quota of the disk is used up'],
  ['EEXIST', 'a file has the name of its directory'],
  ['ENOTDIR', 'a file has the name of its directory'],
  ['EFBIG', 'it exceeds the largest file allowed here (ulimit -f)'],
])

export class SnapshotKeeper {
  readonly #settings: SnapshotKeeperSettings
  #dirtyRows: readonly DirtyRows[] = []
  #stored: StoredSnapshot | null = null
  #triedAt: Moment | null = null
  #failure: string | null = null
  #writing: Promise<void> | null = null
  #giveUp = new AbortController()
  #isEnding = false

  constructor(settings: SnapshotKeeperSettings) {
    this.#settings = settings
  }

  /** The snapshot on disk; `null` if there is none. */
  onDisk(): { readonly rows: number; readonly bytes: number; readonly ageMs: number } | null {
    if (this.#stored === null) return null
    const { rows, bytes, writtenAtMs } = this.#stored
    return { rows, bytes, ageMs: Math.max(0, this.#settings.time.now().wallMs - writtenAtMs) }
  }

  /** Why the last snapshot could not be written, as the rest of a sentence; `null` if it was written. */
  get failure(): string | null {
    return this.#failure
  }

  /** Fills the lists from the snapshot, if it can be used. The CRM must not be read before this ends. */
  async load(): Promise<void> {
    const { replica, observe, time } = this.#settings
    const begunAt = time.now()
    let read: ReadSnapshot | null = null
    await replica.resumeFromSnapshot(async (lists) => {
      try {
        read = await this.#read(lists, begunAt)
        this.#stored = read
      } catch (cause) {
        observe({ kind: 'snapshot-ignored', reason: reasonOf(cause) })
      }
      return read
    })
    this.begin()
    if (read === null) return
    const { rows, writtenAtMs, journal } = read
    if (journal !== null) this.#settings.changes?.resume(journal)
    this.#triedAt = begunAt
    observe({
      kind: 'snapshot-read',
      rows,
      ageMs: begunAt.wallMs - writtenAtMs,
      durationMs: elapsedMs(begunAt, time.now()),
    })
  }

  /** Starts to record changed rows. */
  begin(): void {
    const { events, venues } = this.#settings.replica.lists
    this.#dirtyRows = [new DirtyRows(venues), new DirtyRows(events)]
  }

  async #read(lists: RecordLists, now: Moment): Promise<ReadSnapshot | null> {
    const giveUp = new AbortController()
    const read = await withTimeout(this.#settings.time, LONGEST_MS, this.#settings.file.read(lists, now, giveUp.signal))
    if (read !== TIMED_OUT) return read
    giveUp.abort()
    emptyLists(lists)
    throw new SnapshotFault('reading it takes too long')
  }

  /** Decides after each read whether a new snapshot is due. */
  note(observation: Observation): void {
    if (observation.kind !== 'read-ended' && observation.kind !== 'read-paused') return
    this.#writeIfDue()
    // The list knows only a moment later that it failed, and for how long the CRM asked for no requests.
    this.#settings.time.after(0, () => this.#writeIfDue())
  }

  #writeIfDue(): void {
    const { replica, time } = this.#settings
    const state = replica.snapshotState
    if (this.#writing !== null || this.#isEnding || state === null) return
    const sinceMs = this.#triedAt === null ? Infinity : elapsedMs(this.#triedAt, time.now())
    if (sinceMs >= this.#dueAfterMs(state)) this.#write()
  }

  /** Returns how long after the last snapshot the next one is due. */
  #dueAfterMs(state: SnapshotState): number {
    const stored = this.#stored
    if (stored === null || this.#failure !== null) return CHANGES_EVERY_MS
    if (this.#isUrgent(state, stored)) return 0
    if (this.#dirtyRows.some(({ size }) => size > 0)) return CHANGES_EVERY_MS
    // After a kill, callers are not to read all again because nothing has changed since.
    if (this.#settings.changes?.isNews === true) return CHANGES_EVERY_MS
    const isOther = LISTS.some((name) => (state.lists[name].cursor === null) !== (stored.lists[name].cursor === null))
    return isOther ? CHANGES_EVERY_MS : CURSORS_EVERY_MS
  }

  /**
   * Returns true if a process that is killed now must not forget what is known: since when the shrink guard holds a list
   * or the CRM fails, that a shorter list was accepted, and a pause that the CRM asked for.
   */
  #isUrgent(state: SnapshotState, stored: StoredSnapshot): boolean {
    const { replica } = this.#settings
    return LISTS.some((name) => {
      const [is, was] = [state.lists[name], stored.lists[name]]
      if ((is.shrunk === null) !== (was.shrunk === null)) return true
      const pauseMs = (is.askedUntilMs ?? 0) - Math.max(was.askedUntilMs ?? 0, state.writtenAtMs)
      const confirmedMs = (is.confirmedAtMs ?? 0) - (was.confirmedAtMs ?? 0)
      return pauseMs >= LONG_PAUSE_MS || (replica.bridges && replica[name].isFailing && confirmedMs >= KNOWN_WITHIN_MS)
    })
  }

  /** Writes a last snapshot, unless that would take too long. */
  async stop(): Promise<void> {
    const { replica, time } = this.#settings
    this.#isEnding = true
    const { events, venues } = replica.lists
    const isPossible = replica.snapshotState !== null && events.size + venues.size <= MOST_ROWS_AT_STOP
    if (this.#writing === null && isPossible) this.#write()
    if (this.#writing === null || (await withTimeout(time, LAST_MS, this.#writing)) !== TIMED_OUT) return
    this.#giveUp.abort()
    await withTimeout(time, GIVE_UP_MS, this.#writing)
  }

  #write(): void {
    this.#writing = this.#tryToWrite().finally(() => {
      this.#writing = null
      // A pause may have begun meanwhile.
      this.#writeIfDue()
    })
  }

  async #tryToWrite(): Promise<void> {
    const { file, replica, time, observe } = this.#settings
    const begunAt = time.now()
    const isNews = this.#stored === null || this.#failure !== null
    this.#triedAt = begunAt
    this.#giveUp = new AbortController()
    const { signal } = this.#giveUp
    const cancel = time.after(LONGEST_MS, () => this.#giveUp.abort())
    try {
      const stored = await file.write(replica.lists, this.#dirtyRows, () => this.#describe(), signal)
      this.#stored = stored
      this.#failure = null
      const { rows, bytes } = stored
      if (isNews) observe({ kind: 'snapshot-written', rows, bytes, durationMs: elapsedMs(begunAt, time.now()) })
    } catch (cause) {
      const reason = reasonOf(cause)
      const keptAgeMs = this.onDisk()?.ageMs ?? null
      if (reason !== this.#failure) observe({ kind: 'snapshot-not-written', reason, keptAgeMs })
      this.#failure = reason
      // The next snapshot has all rows. Until then the removed ids would take more and more memory.
      for (const one of this.#dirtyRows) one.clear()
    } finally {
      cancel()
    }
  }

  #describe(): SnapshotState {
    const state = this.#settings.replica.snapshotState
    if (state === null) throw new Error('a list that was loaded stays loaded')
    return state
  }
}

/** Explains why the snapshot cannot be used, as the rest of a sentence. Of a library's errors, shows only the name. */
function reasonOf(cause: unknown): string {
  if (cause instanceof SnapshotFault) return cause.message
  const code = codeOf(cause)
  if (code !== null) return REASONS.get(code) ?? `the file system says ${code}`
  return `there is a mistake in it or in Marquee (${cause instanceof Error ? cause.name : 'an error'})`
}

interface KeptSnapshot extends Omit<SnapshotKeeperSettings, 'file'> {
  readonly directory: string
  readonly configuration: Configuration
  readonly crm: Pick<Crm, 'mapping'>
  readonly limits: () => { readonly memoryBytes: number }
}

/** Keeps a snapshot of the replica's lists in the directory. */
export function keepSnapshot({
  directory,
  configuration,
  crm,
  limits,
  changes,
  ...settings
}: KeptSnapshot): SnapshotKeeper {
  const file = new SnapshotFile({
    directory,
    fingerprint: () => dataFingerprint(configuration, crm),
    limits,
    pause: yieldToEventLoop,
    journal: () => changes?.kept() ?? null,
  })
  return new SnapshotKeeper({ ...settings, file, changes })
}
