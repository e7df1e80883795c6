import { unreachable } from '../../domain/unreachable.ts'
import type { CrmFailure, Page, ReadOutcome, ReadRequest, Source } from '../../replica/port.ts'
import type { Time } from '../../replica/time.ts'
import { cursorOf, cursorRefused, positionOf } from './cursor.ts'
import { Fault } from './fault.ts'
import type { ListTable } from './list-table.ts'
import { readDelta } from './read-delta.ts'
import { readFull } from './read-full.ts'
import type { ReadSession } from './read-session.ts'
import { seekSuspects } from './seek-suspects.ts'
import type { Suspects } from './suspects.ts'
import { SweepSchedule } from './sweep-schedule.ts'
import { sweep } from './sweep.ts'
import { TableReader } from './table-reader.ts'

export interface TableSourceSettings<Item> {
  readonly list: ListTable<Item>
  readonly session: ReadSession
  readonly time: Time
  /** How often all ids and stamps are compared with what is held. */
  readonly sweepEveryMs: number
  readonly patienceMs: number
  readonly suspects: Suspects
  readonly onHint: (callback: () => void) => void
}

type Read<Item> = AsyncGenerator<Page<Item>, ReadOutcome, void>

const COMPLETE = { ok: true, complete: true, oneMoment: false, unchanged: false, asOf: null, confirms: true } as const

/** One list of the database: read in full, or by the stamps of its changes with a sweep of all ids now and then. */
export class TableSource<Item> implements Source<Item> {
  readonly reportsChanges: boolean
  readonly availabilityEveryMs = null
  readonly repeatedId: Source<Item>['repeatedId']
  readonly patienceMs: number
  readonly #settings: TableSourceSettings<Item>
  readonly #reader: TableReader<Item>
  readonly #schedule: SweepSchedule

  constructor(settings: TableSourceSettings<Item>) {
    this.#settings = settings
    this.#reader = new TableReader(settings.list, settings.session)
    this.#schedule = new SweepSchedule(settings.sweepEveryMs)
    this.patienceMs = settings.patienceMs
    this.reportsChanges = settings.list.changedAt !== null
    // Beside reads of changes a row is rightly seen twice while a full read runs.
    this.repeatedId = this.reportsChanges ? 'serves-later' : 'serves-first'
  }

  onHint(callback: () => void): void {
    this.#settings.onHint(callback)
  }

  read(request: ReadRequest): Read<Item> {
    switch (request.kind) {
      case 'full':
        return this.#readAll()
      case 'changes':
        return this.#readChanges(request)
      case 'availability':
        throw new Error('no availability of its own is announced')
      default:
        return unreachable(request.kind)
    }
  }

  /** Whether the table and its columns are there; null where they are. */
  look(): Promise<CrmFailure | null> {
    return this.#reader.look()
  }

  async *#readAll(): Read<Item> {
    const begunAt = this.#settings.time.now()
    const position = yield* readFull(this.#reader)
    if (position instanceof Fault) return await this.#failed(position)
    this.#schedule.readInFull(begunAt)
    return { ...COMPLETE, cursor: this.reportsChanges ? cursorOf(position) : null }
  }

  async *#readChanges({ cursor, held }: ReadRequest): Read<Item> {
    const { time, suspects } = this.#settings
    const begunAt = time.now()
    const before = cursor === null ? null : positionOf(cursor)
    if (before === null) return await this.#failed(cursorRefused())
    const position = yield* readDelta(this.#reader, before)
    if (position instanceof Fault) return await this.#failed(position)
    const next = cursorOf(position)
    const isDue = this.#schedule.isDue(begunAt)
    const unfound = isDue ? null : yield* seekSuspects(this.#reader, suspects, held, before.server)
    if (unfound !== null) return await this.#failed(unfound)
    if (!isDue && !(suspects.wantsSweep && this.#schedule.hasRested(begunAt)))
      return {
        ok: true,
        cursor: next,
        complete: false,
        oneMoment: false,
        unchanged: false,
        asOf: null,
        confirms: false,
      }
    suspects.settleAll()
    const unswept = yield* sweep(this.#reader, held, before.server)
    if (unswept !== null) {
      suspects.wantsSweep = true
      return await this.#failed(unswept)
    }
    this.#schedule.swept(begunAt, time.now())
    return { ...COMPLETE, cursor: next }
  }

  async #failed(fault: Fault): Promise<ReadOutcome> {
    return { ok: false, failure: await this.#reader.explain(fault) }
  }
}
