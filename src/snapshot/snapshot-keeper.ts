// Keeps the lists across restarts. In: the lists, and reports of their reads. Out: a snapshot file, and lists filled
// from it at the start, which the next read of changes confirms (docs/operations.md, The snapshot).

import type { Observation, Observe } from '../observe/observation.ts'
import { codeOf } from '../domain/system-error.ts'
import type { SnapshotList, SnapshotState } from '../sync/served-list.ts'
import { LISTS } from '../domain/field.ts'
import { type RecordLists, DirtyRows } from '../records/row-records.ts'
import type { ChangeFeed } from '../changes/change-feed.ts'
import type { Crm } from '../sync/port.ts'
import type { Replica } from '../sync/replica.ts'
import { type Moment, type Time, elapsedMs } from '../time/time.ts'
import { TIMED_OUT, withTimeout, yieldToEventLoop } from '../time/waiting.ts'
import { type StoredSnapshot, SnapshotFile, emptyLists } from './snapshot-file.ts'
import { SNAPSHOT_FORMAT, SnapshotFault } from './snapshot-lines.ts'
import type { Configuration } from '../config/configuration.ts'
import { RECORDS } from '../crm/mapping/map-row.ts'
import { ZONE_DATA_VERSION } from '../domain/zone-data.ts'
import { createHash } from 'node:crypto'

interface SnapshotKeeperSettings {
  readonly file: SnapshotFile
  readonly replica: Replica
  readonly time: Time
  readonly observe: Observe
  /** What callers are told of changes; absent if they are told nothing. */
  readonly changes?: ChangeFeed | undefined
}

const LONGEST_MS = 60_000
/** How long a stop waits for the snapshot. */
const LAST_MS = 1000
/** The estimated time to write a row, in ms, until the first snapshot has been written. */
const ROW_MS = 0.005
const LEAST_EVERY_MS = 10_000
const CHANGES_EVERY_MS = 300_000
/** The interval of snapshots if no row changes: cursors expire, and a snapshot is only as good as its cursors. */
const CURSORS_EVERY_MS = 3_600_000
/** After a kill, the next process errs by this much: it takes the lists for older, and shorter pauses are forgotten. */
const KNOWN_WITHIN_MS = 60_000
const LONG_PAUSE_MS = 30_000
const ANYWAY_EVERY_MS = 24 * 3_600_000
/** If this part of the rows has changed, a snapshot is written at once. */
const MUCH = 1 / 10

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
  #tookMs: number | null = null
  #failure: string | null = null
  #hasDrifted = false
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
    await replica.resumeFromSnapshot(async (lists) => {
      try {
        this.#stored = await this.#read(lists, begunAt)
      } catch (cause) {
        observe({ kind: 'snapshot-ignored', reason: reasonOf(cause) })
      }
      return this.#stored
    })
    this.begin()
    if (this.#stored === null) return
    const { rows, writtenAtMs, journal } = this.#stored
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

  async #read(lists: RecordLists, now: Moment): Promise<StoredSnapshot | null> {
    const giveUp = new AbortController()
    const read = await withTimeout(this.#settings.time, LONGEST_MS, this.#settings.file.read(lists, now, giveUp.signal))
    if (read !== TIMED_OUT) return read
    giveUp.abort()
    emptyLists(lists)
    throw new SnapshotFault('reading it takes too long')
  }

  /** Decides after each read whether a new snapshot is due. */
  note(observation: Observation): void {
    if (observation.kind === 'drift-found') this.#hasDrifted = true
    if (observation.kind === 'read-ended' && this.#isDue()) this.#write()
    const hasFailed = observation.kind === 'read-ended' && observation.read.outcome !== 'ok'
    // The list knows only a moment later that it failed, and for how long the CRM asked for no requests.
    if (hasFailed || observation.kind === 'read-paused') this.#settings.time.after(0, () => this.#writeIfFailing())
  }

  #writeIfFailing(): void {
    const { replica } = this.#settings
    const state = replica.snapshotState
    if (this.#writing !== null || this.#isEnding || state === null || this.#failure !== null) return
    const stored = this.#stored
    if (stored === null) return
    const isNews = LISTS.some((name) => {
      const [is, was] = [state.lists[name], stored.lists[name]]
      const pauseMs = (is.askedUntilMs ?? 0) - Math.max(was.askedUntilMs ?? 0, state.writtenAtMs)
      const confirmedMs = (is.confirmedAtMs ?? 0) - (was.confirmedAtMs ?? 0)
      return pauseMs >= LONG_PAUSE_MS || (replica.bridges && replica[name].isFailing && confirmedMs >= KNOWN_WITHIN_MS)
    })
    if (isNews) this.#write()
  }

  #isDue(): boolean {
    const { replica, time } = this.#settings
    if (this.#writing !== null || this.#isEnding) return false
    const state = replica.snapshotState
    if (state === null) return false
    if (this.#triedAt === null) return true
    const sinceMs = elapsedMs(this.#triedAt, time.now())
    // A process that is killed must not forget since when a list is held, or that a shorter one was accepted.
    if (this.#failure === null && this.#stored !== null && differ(state, this.#stored, IS_HELD)) return true
    if (sinceMs < (this.#failure === null ? LEAST_EVERY_MS : CHANGES_EVERY_MS)) return false
    if (this.#stored === null || this.#failure !== null || this.#hasDrifted) return true
    // After a kill, callers are not to read all again because nothing has changed.
    if (this.#settings.changes?.isNews === true) return true
    if (differ(state, this.#stored, HAS_CURSOR)) return true
    const dirty = this.#dirty()
    if (dirty > 0 && (sinceMs >= CHANGES_EVERY_MS || dirty >= this.#rows * MUCH)) return true
    if (sinceMs >= CURSORS_EVERY_MS && (replica.bridges || differ(state, this.#stored, CURSOR))) return true
    return sinceMs >= ANYWAY_EVERY_MS
  }

  /** Writes a last snapshot if rows have changed, unless that would take too long. */
  async stop(): Promise<void> {
    const { replica, time } = this.#settings
    const state = replica.snapshotState
    this.#isEnding = true
    const isWorthIt =
      this.#writing === null &&
      state !== null &&
      (this.#dirty() > 0 ||
        this.#stored === null ||
        this.#failure !== null ||
        this.#settings.changes?.isNews === true ||
        differ(state, this.#stored, IS_HELD) ||
        differ(state, this.#stored, CURSOR) ||
        differ(state, this.#stored, ASKED_UNTIL) ||
        (replica.bridges && differ(state, this.#stored, CONFIRMED_AT))) &&
      (this.#tookMs ?? this.#rows * ROW_MS) < LAST_MS
    if (isWorthIt) this.#write()
    if (this.#writing === null || (await withTimeout(time, LAST_MS, this.#writing)) !== TIMED_OUT) return
    this.#giveUp.abort()
    await withTimeout(time, LAST_MS / 10, this.#writing)
  }

  get #rows(): number {
    const { events, venues } = this.#settings.replica.lists
    return events.size + venues.size
  }

  #dirty(): number {
    return this.#dirtyRows.reduce((sum, { size }) => sum + size, 0)
  }

  #write(): void {
    this.#writing = this.#tryToWrite().finally(() => {
      this.#writing = null
      // A pause may have begun meanwhile.
      this.#writeIfFailing()
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
      this.#tookMs = elapsedMs(begunAt, time.now())
      this.#stored = stored
      this.#failure = null
      this.#hasDrifted = false
      const { rows, bytes } = stored
      if (isNews) observe({ kind: 'snapshot-written', rows, bytes, durationMs: this.#tookMs })
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

const CURSOR = ({ cursor }: SnapshotList): unknown => cursor
const HAS_CURSOR = ({ cursor }: SnapshotList): unknown => cursor !== null
const ASKED_UNTIL = ({ askedUntilMs }: SnapshotList): unknown => askedUntilMs
const CONFIRMED_AT = ({ confirmedAtMs }: SnapshotList): unknown => confirmedAtMs
/** Whether the shrink guard holds the list. */
const IS_HELD = ({ shrunk }: SnapshotList): unknown => shrunk !== null

function differ(left: SnapshotState, right: SnapshotState, of: (list: SnapshotList) => unknown): boolean {
  return LISTS.some((name) => of(left.lists[name]) !== of(right.lists[name]))
}

/** Explains why the snapshot cannot be used, as the rest of a sentence. Of a library's errors, shows only the name. */
function reasonOf(cause: unknown): string {
  if (cause instanceof SnapshotFault) return cause.message
  const code = codeOf(cause)
  if (code !== null) return REASONS.get(code) ?? `the file system says ${code}`
  return `there is a mistake in it or in Marquee (${cause instanceof Error ? cause.name : 'an error'})`
}

/**
 * Identifies the records that a configuration makes, as 12 hexadecimal digits. If it or one of the versions changes,
 * stored records are not used. Of the representation only further fields count; credentials and limits do not.
 */
export function dataFingerprintOf(
  { crm, timeZone, representation: { further } }: Pick<Configuration, 'crm' | 'timeZone' | 'representation'>,
  versions: readonly (number | string)[],
  mapping?: unknown,
): string {
  // Omitted if there are none, so the records of earlier releases remain usable.
  const declared = further.events.length + further.venues.length === 0 ? [] : [further]
  const inForce = mapping === undefined ? [] : [mapping]
  const shaping = canonical([...versions, timeZone, crm.shaping(), ...declared, ...inForce])
  return createHash('sha256').update(shaping).digest('hex').slice(0, 12)
}

/** JSON with sorted keys, because the order of keys in a file makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
  })
}

/**
 * Identifies the records that a configuration makes with the mapping in force. Each fingerprint has its own snapshot and
 * its own cluster log. `null` while the connector has not declared its mapping.
 */
export function dataFingerprint(configuration: Configuration, { mapping }: Pick<Crm, 'mapping'>): string | null {
  return mapping === null
    ? null
    : dataFingerprintOf(configuration, [SNAPSHOT_FORMAT, RECORDS, ZONE_DATA_VERSION], mapping)
}

/** Keeps a snapshot of the replica's lists in the directory. */
export function keepSnapshot(
  directory: string,
  configuration: Configuration,
  crm: Pick<Crm, 'mapping'>,
  replica: Replica,
  limits: () => { readonly memoryBytes: number },
  time: Time,
  observe: Observe,
  changes?: ChangeFeed,
): SnapshotKeeper {
  const file = new SnapshotFile({
    directory,
    fingerprint: () => dataFingerprint(configuration, crm),
    limits,
    pause: yieldToEventLoop,
    journal: () => changes?.kept() ?? null,
  })
  return new SnapshotKeeper({ file, replica, time, observe, changes })
}
