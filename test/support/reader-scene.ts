import type { EventRecord } from '../../src/domain/event.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { eventKind } from '../../src/records/list-kinds.ts'
import { RecordList } from '../../src/records/record-list.ts'
import { type ListReaderOptions, ListReader } from '../../src/sync/list-reader.ts'
import type { Attempt } from '../../src/sync/poller.ts'
import type { Change, Cursor, Failure, ListSource, ReadEnd, ReadRequest } from '../../src/sync/port.ts'
import { formatter } from '../model/records.ts'
import { settled, VirtualTime } from '../model/virtual-time.ts'

export type Changes = readonly Change<EventRecord>[]

export const DOWN: Failure = { kind: 'unreachable', message: 'down', retryAfterMs: null }

/** The course of one read of the CRM: its pages, each 100 ms after the request, and its end. */
export interface Script {
  readonly pages?: readonly (Changes | (() => Changes))[]
  readonly end?: Partial<ReadEnd> | Failure
  readonly lagMs?: number
  /** When the CRM says the rows were changed, wall ms. */
  readonly updatedAtMs?: number
  /** The delay before the first page, ms. */
  readonly slowMs?: number
  /** It is the course of an audit. An audit also makes a refresh, which finds nothing if no script says otherwise. */
  readonly audit?: boolean
  /** Why the list may still be being written. */
  readonly unsure?: string
}

/** A reader of events, whose source plays scripts, one a read. */
export function readerScene(
  given: Partial<ListSource<EventRecord>>,
  shrinkGuardMs: number | null,
  options: Partial<ListReaderOptions<EventRecord>> = {},
) {
  const time = new VirtualTime(1)
  const list = new RecordList(eventKind(formatter))
  const asked: ReadRequest[] = []
  const scripts: Script[] = []
  const observed: Observation[] = []
  const settings = {
    shrinkGuardMs,
    maxAgeMs: 30_000,
    fullReadEveryMs: 900_000,
    refreshEveryMs: 5000,
    staleIfErrorMs: 0,
  }
  const source: ListSource<EventRecord> = {
    reportsChanges: true,
    repeatedId: 'serves-later',
    patienceMs: 1000,
    async *read(request) {
      asked.push(request)
      const at = scripts.findIndex(({ audit = false }) => audit === (request.purpose === 'audit'))
      const script = at < 0 ? undefined : scripts.splice(at, 1)[0]
      const { pages = [[]], end = {}, lagMs = 0, slowMs = 100, updatedAtMs, unsure } = script ?? {}
      for (const each of pages) {
        const changes = typeof each === 'function' ? each() : each
        await new Promise<void>((resolve) => time.after(slowMs, resolve))
        const page = { sourceLagMs: lagMs, changes, whereIs: (index: number) => `row ${index}` }
        const told = unsure === undefined ? page : { ...page, unsure }
        yield updatedAtMs === undefined ? told : { ...told, updatedAtMs: () => updatedAtMs }
      }
      if ('kind' in end) return { ok: false, failure: end }
      const complete = request.kind === 'full'
      const cursor = `cursor ${asked.length}` as Cursor
      return { ok: true, cursor, complete, oneMoment: true, unchanged: false, asOf: null, confirms: true, ...end }
    },
    ...given,
  }
  const observe = (observation: Observation): void => void observed.push(observation)
  const reader = new ListReader<EventRecord>(
    {
      list,
      source,
      time,
      observe,
      pause: () => Promise.resolve(),
      memory: () => ({ takenBytes: 0, limitBytes: Infinity }),
      ...options,
    },
    () => settings,
  )
  /** Runs a read to its end. */
  const run = async (read: () => Promise<Attempt>, ...script: Script[]): Promise<Attempt> => {
    scripts.push(...script)
    const outcome: { attempt: Attempt | null } = { attempt: null }
    void read().then((attempt) => (outcome.attempt = attempt))
    await settled()
    while (outcome.attempt === null) if (!(await time.step())) throw new Error('the read never ends')
    return outcome.attempt
  }
  /** Runs an audit to its end. */
  const audit = (...script: Script[]): Promise<Attempt> =>
    run(() => reader.audit(), ...script.map((each) => ({ ...each, audit: true })))
  return { time, list, asked, scripts, observed, reader, settings, run, audit }
}
