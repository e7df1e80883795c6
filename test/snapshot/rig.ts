import { ListMaker } from '../../src/records/row-records.ts'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventRecord } from '../../src/domain/event.ts'
import type { Guid } from '../../src/domain/guid.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { Change, Failure, PageStream, ReadRequest, ListSource } from '../../src/sync/port.ts'
import { cursorOf, failed, PAGE_ROWS } from '../../src/sync/port.ts'
import { Replica } from '../../src/sync/replica.ts'
import type { Moment, Time } from '../../src/time/time.ts'
import { systemTime } from '../../src/time/time.ts'
import { SnapshotFile } from '../../src/snapshot/snapshot-file.ts'
import { SnapshotKeeper } from '../../src/snapshot/snapshot-keeper.ts'
import { eventOf, formatter, guidOf, venueOf } from '../model/records.ts'
import { eventually } from '../support/eventually.ts'

/** One list of a CRM that knows what changed since each of its cursors. */
class Table<Item> {
  readonly rows: Map<Guid, Change<Item>> = new Map()
  readonly reads: string[] = []
  /** Ids by when they changed: a cursor is a number of changes. */
  readonly #log: Guid[] = []
  #version = 0
  knowsCursors = true
  travels = true
  /** Rows without an id, in full reads. */
  nameless = 0
  /** Each read fails with it. */
  failure: Failure | null = null
  /** Each read waits for it. */
  gate: Promise<void> = Promise.resolve()

  put(id: Guid, record: Item): void {
    this.#set(id, { kind: 'record', id, record, version: ++this.#version })
  }

  withhold(id: Guid): void {
    const withheld = {
      fault: 'missing',
      column: 'Name',
      where: 'row 7',
      expected: { kind: 'text' },
      found: 'secret',
    } as const
    this.#set(id, { kind: 'withheld', id, withheld, version: ++this.#version })
  }

  delete(id: Guid): void {
    this.rows.delete(id)
    this.#log.push(id)
  }

  /** It changes, and no read of changes will tell. */
  alter(id: Guid, record: Item): void {
    this.rows.set(id, { kind: 'record', id, record, version: Number.NaN })
  }

  source(): ListSource<Item> {
    return {
      reportsChanges: true,
      repeatedId: 'serves-later',
      patienceMs: 5000,
      travels: () => this.travels,
      read: (request) => this.#read(request),
    }
  }

  #set(id: Guid, change: Change<Item>): void {
    this.rows.set(id, change)
    this.#log.push(id)
  }

  async *#read({ kind, cursor }: ReadRequest): PageStream<Item> {
    this.reads.push(kind)
    await this.gate
    if (this.failure !== null) return { ok: false, failure: this.failure }
    if (kind === 'changes' && !this.knowsCursors) return failed('cursor-refused', 'forgotten')
    const known = this.#log.length
    const ids = new Set(kind === 'full' ? this.rows.keys() : this.#log.slice(Number(cursor)))
    const changes = Array.from(ids, (id) => this.rows.get(id) ?? ({ kind: 'deleted', id } as const))
    if (kind === 'full') {
      const withheld = { fault: 'no-id', column: 'Id', where: 'row 9', expected: { kind: 'id' }, found: null } as const
      for (let left = this.nameless; left > 0; left--) {
        changes.push({ kind: 'withheld', id: null, withheld, version: Number.NaN })
      }
    }
    for (let from = 0; from < changes.length || from === 0; from += PAGE_ROWS) {
      yield { sourceLagMs: 0, changes: changes.slice(from, from + PAGE_ROWS), whereIs: () => 'row' }
    }
    const complete = kind === 'full'
    return {
      ok: true,
      cursor: cursorOf(String(known)),
      complete,
      oneMoment: true,
      unchanged: false,
      asOf: null,
      confirms: true,
    }
  }
}

export interface Tables {
  readonly events: Table<EventRecord>
  readonly venues: Table<VenueRecord>
}

export interface RigOptions {
  readonly directory?: string
  readonly fingerprint?: string
  readonly memoryBytes?: number
  readonly staleIfErrorMs?: number
  readonly aheadMs?: number
  /** Runs where requests would pass. */
  readonly onPause?: () => void
}

/** Waits until it is so. */
export async function until(isSo: () => boolean): Promise<void> {
  await eventually(
    async () => isSo(),
    (is) => is,
  )
}

export function emptyDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'marquee-base-'))
}

/** How often it was written, and how the last time went. */
class WatchedFile extends SnapshotFile {
  writes = 0
  last: Promise<unknown> = Promise.resolve()

  override write(...given: Parameters<SnapshotFile['write']>): ReturnType<SnapshotFile['write']> {
    this.writes++
    const stored = super.write(...given)
    this.last = stored.catch(() => {})
    return stored
  }
}

/** A process that keeps a snapshot, as far as its lists go. Its clocks can be set ahead. */
export class Rig {
  readonly replica: Replica
  readonly keeper: SnapshotKeeper
  readonly observed: Observation[] = []
  readonly directory: string
  readonly path: string
  readonly file: WatchedFile
  aheadMs: number

  constructor(crm: Tables, options: RigOptions = {}) {
    const {
      directory = emptyDirectory(),
      fingerprint = '0123456789ab',
      memoryBytes = 1e9,
      staleIfErrorMs = 0,
      onPause,
    } = options
    this.aheadMs = options.aheadMs ?? 0
    this.directory = directory
    this.path = join(directory, `${fingerprint}.snapshot`)
    const time: Time = {
      ...systemTime,
      now: () => this.now(),
    }
    const pause = (): Promise<void> => {
      onPause?.()
      return new Promise((resolve) => setImmediate(resolve))
    }
    this.replica = new Replica({
      crm: {
        events: crm.events.source(),
        venues: crm.venues.source(),
        close: () => Promise.resolve(),
      },
      lists: new ListMaker(formatter).make(),
      settings: () => ({
        maxAgeMs: 30_000,
        refreshEveryMs: 3_600_000,
        fullReadEveryMs: 900_000,
        staleIfErrorMs,
        shrinkGuardMs: 86_400_000,
      }),
      limits: () => ({ memoryBytes }),
      time,
      observe: (observation) => {
        this.observed.push(observation)
        this.keeper.note(observation)
      },
      pause,
    })
    this.file = new WatchedFile({ directory, fingerprint: () => fingerprint, limits: () => ({ memoryBytes }), pause })
    this.keeper = new SnapshotKeeper({
      file: this.file,
      replica: this.replica,
      time,
      observe: (observation) => this.observed.push(observation),
    })
  }

  now(): Moment {
    const { monotonicMs, wallMs } = systemTime.now()
    return { monotonicMs: monotonicMs + this.aheadMs, wallMs: wallMs + this.aheadMs }
  }

  /** Begins as a process does, and ends its first reads. */
  async start(): Promise<this> {
    void this.keeper.load()
    this.replica.start()
    await this.read()
    return this
  }

  async read(): Promise<void> {
    await Promise.all([this.replica.venues.refresh.attempt(), this.replica.events.refresh.attempt()])
  }

  async stop(): Promise<void> {
    await this.replica.stop()
    await this.keeper.stop()
  }

  /** Stops as at the pull of a plug. */
  async kill(): Promise<void> {
    await this.replica.stop()
  }

  /** What was said of the snapshot, a word and a reason each. */
  get said(): readonly string[] {
    return this.observed.flatMap((one) => {
      if (one.kind === 'snapshot-ignored' || one.kind === 'snapshot-not-written') return [`${one.kind}: ${one.reason}`]
      return one.kind === 'snapshot-read' || one.kind === 'snapshot-written' ? [one.kind] : []
    })
  }

  /** Everything that is held, as it can be compared. */
  get held(): unknown {
    return [this.replica.events, this.replica.venues].map(({ list }) => {
      const rows = Array.from(list.rows(), (row) => {
        const { id, isServed: served, withheld } = row
        return [
          id,
          [served, list.get(id), withheld?.fault, withheld?.column, withheld?.where, list.version(id)],
        ] as const
      })
      return [new Map(rows), list.unidentified.length]
    })
  }
}

const VENUES = 0x1000_0000

export function tables(events = 3, venues = 2): Tables {
  const both: Tables = { events: new Table(), venues: new Table() }
  for (let number = 1; number <= venues; number++) put(both, 'venues', number, `venue ${number}`)
  for (let number = 1; number <= events; number++) put(both, 'events', number, `event ${number}`)
  return both
}

export function put({ events, venues }: Tables, list: 'events' | 'venues', number: number, Name: string): void {
  const id = guidOf(list === 'events' ? number : VENUES + number)
  if (list === 'venues') venues.put(id, venueOf(id, Name))
  else events.put(id, eventOf(id, { Name, VenueId: guidOf(VENUES + 1) }))
}

/** Has written a snapshot of these in a new directory, and stopped. */
export async function written(both: Tables, options: RigOptions = {}): Promise<Rig> {
  const rig = await new Rig(both, options).start()
  await until(() => rig.said.includes('snapshot-written'))
  await rig.stop()
  for (const table of [both.events, both.venues]) table.reads.splice(0)
  return rig
}

/** Another process, where the one before was. */
export async function started(both: Tables, before: Rig): Promise<Rig> {
  return new Rig(both, { directory: before.directory }).start()
}
