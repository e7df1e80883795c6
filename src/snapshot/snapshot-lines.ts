import { type ListName, LISTS } from '../domain/field.ts'
import { parseGuid } from '../domain/guid.ts'
import { countAt, fieldsOf, type JsonFields, listAt, numberAt, textAt, textOrNullAt } from '../domain/json-value.ts'
import { FAULTS } from '../domain/withheld.ts'
import { type RowRecord, SAYS } from '../records/row-records.ts'
import { cursorOf } from '../sync/port.ts'
import type { KeptChanges } from '../changes/change-journal.ts'
import type { ListState, SnapshotList, SnapshotState } from '../sync/served-list.ts'

/**
 * Incremented if the lines of a snapshot change, or what a cluster keeps in its store. Instances only read and write
 * their own format.
 */
export const SNAPSHOT_FORMAT = 5

/** Why a snapshot cannot be used or written: the rest of a sentence that begins with its name. */
export class SnapshotFault extends Error {}

/** The first line: whose rows follow. */
export interface FirstLine {
  readonly fingerprint: string
  /** When the writing began, wall ms. */
  readonly begunAtMs: number
}

export function firstLine(line: FirstLine): string {
  return JSON.stringify({ format: SNAPSHOT_FORMAT, ...line })
}

export function readFirstLine(line: string): FirstLine {
  const fields = fieldsOf(JSON.parse(line))
  const { format } = fields
  if (format !== SNAPSHOT_FORMAT) {
    throw new SnapshotFault(`it is of format ${String(format).slice(0, 20)}, and this release reads ${SNAPSHOT_FORMAT}`)
  }
  return { fingerprint: textAt(fields, 'fingerprint'), begunAtMs: numberAt(fields, 'begunAtMs') }
}

/** A row, as a JSON list: then a line is half as long as with names. A later line for the same row replaces it. */
export function rowLine({ list, says, id, version, revision: { sinceS, sequence }, text }: RowRecord): string {
  return JSON.stringify([list, says, id, version, sinceS, sequence, text])
}

/** Returns true if a line is a row's. */
export function isRowLine(line: string): boolean {
  return line.startsWith('["')
}

/** Yields the lines of what callers are told of changes: one for the whole, then one for each change. */
export function* journalLines({ runs, floor, told, form, entries }: KeptChanges): Generator<string, void> {
  yield JSON.stringify({ runs, floor, told, form })
  for (const entry of entries) yield JSON.stringify(entry)
}

/** Collects the lines of changes; other lines are refused. */
export class JournalReader {
  #kept: (Omit<KeptChanges, 'entries'> & { readonly entries: KeptChanges['entries'][number][] }) | null = null

  get kept(): KeptChanges | null {
    return this.#kept
  }

  /** Takes a line if it is one of changes. */
  takes(line: string): boolean {
    if (line.startsWith('{"runs"')) {
      const fields = fieldsOf(JSON.parse(line))
      const runs = listAt(fields, 'runs').map(fieldsOf)
      const named = runs.map((run) => ({ name: textAt(run, 'name'), last: countAt(run, 'last') }))
      // Releases without webhooks kept no positions of them.
      const told = fieldsOf(fields['told'] ?? {})
      const positions = Object.keys(told).map((webhook) => [webhook, textAt(told, webhook)] as const)
      // Releases that did not keep the form: none is equal to it.
      const form = fields['form'] === undefined ? '' : textAt(fields, 'form')
      const floor = countAt(fields, 'floor')
      this.#kept = { runs: named, floor, told: Object.fromEntries(positions), form, entries: [] }
      return true
    }
    if (!line.startsWith('[') || isRowLine(line)) return false
    const [number, name, guid, removedMs] = listAt({ entry: JSON.parse(line) }, 'entry')
    const list = LISTS.find((one) => one === name)
    const id = typeof guid === 'string' ? parseGuid(guid) : null
    const isTime = removedMs === null || typeof removedMs === 'number'
    if (list === undefined || id === null || typeof number !== 'number' || !isTime || this.#kept === null)
      throw new Error('it is no change')
    this.#kept.entries.push([number, list, id, removedMs])
    return true
  }
}

export function readRowLine(line: string): RowRecord {
  const [name, said, guid, version, sinceS, sequence, text] = listAt({ row: JSON.parse(line) }, 'row')
  const list = LISTS.find((one) => one === name)
  const says = SAYS.find((one) => one === said)
  const id = typeof guid === 'string' ? parseGuid(guid) : null
  if (list === undefined || says === undefined || id === null || typeof text !== 'string')
    throw new Error('it is no row')
  if (typeof sinceS !== 'number' || typeof sequence !== 'number') throw new Error('a row has no revision')
  // JSON writes NaN as null: the row has no version.
  return {
    list,
    says,
    id,
    version: typeof version === 'number' ? version : Number.NaN,
    revision: { sinceS, sequence },
    text,
  }
}

/** The last line: what is known of the lists at the moment that the rows show, the cursors above all. */
export function lastLine(state: SnapshotState): string {
  return JSON.stringify(state)
}

export function readLastLine(line: string): SnapshotState {
  const fields = fieldsOf(JSON.parse(line))
  const lists = fieldsOf(fields['lists'])
  const of = (name: ListName): SnapshotList => snapshotListOf(fieldsOf(lists[name]))
  return { lists: { events: of('events'), venues: of('venues') }, writtenAtMs: numberAt(fields, 'writtenAtMs') }
}

function snapshotListOf(given: JsonFields): SnapshotList {
  const timeAt = (name: string): number | null => (given[name] === null ? null : numberAt(given, name))
  return {
    ...listStateOf(given),
    auditedAtMs: timeAt('auditedAtMs'),
    confirmedAtMs: timeAt('confirmedAtMs'),
    askedUntilMs: timeAt('askedUntilMs'),
  }
}

/** Parses the state of a list, from a snapshot or from what a cluster's leader says. Throws if it is not valid. */
export function listStateOf(given: JsonFields): ListState {
  const cursor = textOrNullAt(given, 'cursor')
  const unidentified = listAt(given, 'unidentified')
  if (unidentified.length > FAULTS.length)
    throw new Error('unidentified must have no more counts than there are faults')
  const shrunk = given['shrunk'] === null ? null : fieldsOf(given['shrunk'])
  return {
    cursor: cursor === null ? null : cursorOf(cursor),
    served: countAt(given, 'served'),
    withheld: countAt(given, 'withheld'),
    unidentified: unidentified.map((count) => countAt({ unidentified: count }, 'unidentified')),
    shrunk: shrunk && {
      forMs: numberAt(shrunk, 'forMs'),
      absent: countAt(shrunk, 'absent'),
      unreadable: countAt(shrunk, 'unreadable'),
    },
    lost: countAt(given, 'lost'),
    readsPrice: given['readsPrice'] === true,
  }
}
