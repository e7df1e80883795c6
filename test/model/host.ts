import type { Admissions, SnapshotState } from '../../src/sync/served-list.ts'
import type { RowRecord } from '../../src/records/row-records.ts'
import { allRowRecords, applyRowRecord } from '../../src/records/row-records.ts'
import type { Crm, ListSource } from '../../src/sync/port.ts'
import { failed } from '../../src/sync/port.ts'
import type { Replica } from '../../src/sync/replica.ts'
import type { Chance } from './chance.ts'
import type { Setting } from './setting.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A process that answers requests. */
export interface Running {
  readonly replica: Replica
  readonly admissions: Admissions
}

/** The snapshot on disk between two processes. */
interface SavedSnapshot extends SnapshotState {
  readonly frames: readonly RowRecord[]
}

/** The outcome of reads that come too late for an ending process. */
export const CLOSED = 'closed'

/** The machine: one process after another answers, each from the snapshot of the previous one. */
export class Host {
  /** The present or last process. */
  running: Running
  /** `null` until the next process has started. */
  current: Running | null
  restarts = 0
  #snapshot: SavedSnapshot | null = null
  #crm: ClosableCrm
  #active = true
  readonly #open: (crm: Crm) => Running
  readonly #crmOf: () => Crm
  readonly #setting: Setting
  readonly #time: VirtualTime
  readonly #chance: Chance

  constructor(
    open: (crm: Crm) => Running,
    crmOf: () => Crm,
    { setting, time, chance }: { setting: Setting; time: VirtualTime; chance: Chance },
  ) {
    this.#open = open
    this.#crmOf = crmOf
    this.#setting = setting
    this.#time = time
    this.#chance = chance
    this.#crm = new ClosableCrm(crmOf())
    this.running = this.current = open(this.#crm)
  }

  begin(): void {
    const { replica } = this.running
    // The lists are empty, so the indexes are complete at once.
    void replica.keepIndexes()
    const snapshot = this.#snapshot
    if (snapshot !== null) {
      void replica.resumeFromSnapshot(async (lists) => {
        for (const frame of snapshot.frames) applyRowRecord(lists, frame, this.#time.peek().monotonicMs)
        return snapshot
      })
    }
    replica.start()
    if (this.#setting.restartEveryMs > 0) {
      this.#time.inTheWorld(this.#chance.span(this.#setting.restartEveryMs), () => void this.#restart())
    }
  }

  /** The data survives the process. */
  get hasSnapshot(): boolean {
    return this.#snapshot !== null
  }

  /** As of when the snapshot knows the list, in true time; infinity if there is no snapshot. */
  snapshotMs(list: 'events' | 'venues'): number {
    const confirmedAtMs = this.#snapshot?.lists[list].confirmedAtMs ?? null
    if (confirmedAtMs === null) return Number.POSITIVE_INFINITY
    return this.#time.trueMs - (this.#time.peek().wallMs - confirmedAtMs)
  }

  /** Stops ending processes. */
  end(): void {
    this.#active = false
  }

  /**
   * A read has ended. A snapshot is written after each full one, which may have found facts that nothing else reports,
   * and sometimes after others.
   */
  note(kind: string): void {
    if (this.#setting.restartEveryMs > 0 && (kind === 'full' || this.#chance.happens(0.05))) this.#keep()
  }

  #keep(): void {
    const { replica } = this.running
    const state = replica.snapshotState
    if (state !== null) this.#snapshot = { ...state, frames: [...allRowRecords(replica.lists)] }
  }

  async #restart(): Promise<void> {
    if (!this.#active) return
    this.restarts++
    this.current = null
    this.#crm.isClosed = true
    await this.running.replica.stop()
    // A stop writes a snapshot, a kill leaves the old one.
    if (this.#chance.happens(0.5)) this.#keep()
    this.#crm = new ClosableCrm(this.#crmOf())
    this.running = this.current = this.#open(this.#crm)
    this.begin()
  }
}

class ClosableCrm implements Crm {
  isClosed = false
  readonly events: Crm['events']
  readonly venues: Crm['venues']

  constructor({ events, venues }: Crm) {
    this.events = this.#closable(events)
    this.venues = this.#closable(venues)
  }

  async close(): Promise<void> {}

  #closable<Item>(source: ListSource<Item>): ListSource<Item> {
    const isClosed = (): boolean => this.isClosed
    return {
      ...source,
      async *read(request) {
        return isClosed() ? failed('unreachable', CLOSED) : yield* source.read(request)
      },
    }
  }
}
