// What the leader says of its lists at each heartbeat, and what each instance says of itself. The text is JSON; an
// instance that cannot read it takes it for none.

import { type ListName, LISTS } from '../domain/field.ts'
import type { Revision } from '../domain/revision.ts'
import { type JsonFields, countAt, fieldsOf, listAt, numberAt, textAt, textOrNullAt } from '../domain/json-value.ts'
import { listStateOf } from '../snapshot/snapshot-lines.ts'
import type { ListState } from '../sync/served-list.ts'
import type { Sizes } from './store.ts'

/** What the leader says of a list besides its rows. */
export interface ReportedState extends ListState {
  /** Whether the list was read in full once. */
  readonly whole: boolean
  readonly accepting: boolean
  readonly lastError: string | null
  /** Whether `lastError` only says that a file may be half-written. */
  readonly waiting: boolean
  /** The number of failed reads in a row. */
  readonly failures: number
  readonly nextTryMs: number
  /** How long the CRM asked not to be read, in ms; 0 if it did not. */
  readonly askedMs: number
  /** Whether the other list went on without this one, which may lack rows that it refers to. */
  readonly isLeftBehind: boolean
  /** The last removal, which no row tells of. */
  readonly lastRemoval: Revision
  /** Names the loss that the shrink guard does not believe; `null` while it believes the list. */
  readonly loss: string | null
  /** The age of the data in ms when the leader had read the ticks; `null` if it is unknown. */
  readonly ageMs: number | null
  readonly auditedMs: number | null
}

export type ReportedStates = Readonly<Record<ListName, ReportedState>>

export interface Beat {
  readonly leader: string
  readonly lists: ReportedStates
  /** The rows of each list in the store and in the log up to here; `null` if some were left. */
  readonly sizes: Sizes | null
  /** The last tick of each instance that was read before the ages were taken. */
  readonly ticks: ReadonlyMap<string, number>
  readonly instances: number
  /** The instances that claim first, in this order. */
  readonly candidates: readonly string[]
  readonly versions: readonly string[]
  readonly refreshEveryMs: number
  readonly heartbeatMs: number
  /** The losses that an operator has accepted. */
  readonly accepted: readonly string[]
  /** The leader leaves, and the first candidate claims at once. */
  readonly leaves: boolean
}

export function encodeBeat({ ticks, ...beat }: Beat): string {
  return JSON.stringify({ ...beat, ticks: Object.fromEntries(ticks) })
}

/** Returns what a beat says; `null` if it says nothing that this release understands. */
export function decodeBeat(text: string): Beat | null {
  try {
    const given = fieldsOf(JSON.parse(text))
    const lists = fieldsOf(given['lists'])
    const sizes = given['sizes'] === null ? null : fieldsOf(given['sizes'])
    return {
      leader: textAt(given, 'leader'),
      lists: { events: reportedStateOf(fieldsOf(lists['events'])), venues: reportedStateOf(fieldsOf(lists['venues'])) },
      sizes: sizes && { events: countAt(sizes, 'events'), venues: countAt(sizes, 'venues') },
      ticks: new Map(
        Object.entries(fieldsOf(given['ticks'])).flatMap(([name, tick]) =>
          typeof tick === 'number' ? [[name, tick]] : [],
        ),
      ),
      instances: numberAt(given, 'instances'),
      candidates: textsAt(given, 'candidates'),
      versions: textsAt(given, 'versions'),
      refreshEveryMs: numberAt(given, 'refreshEveryMs'),
      heartbeatMs: numberAt(given, 'heartbeatMs'),
      accepted: textsAt(given, 'accepted'),
      leaves: given['leaves'] === true,
    }
  } catch {
    return null
  }
}

function reportedStateOf(given: JsonFields): ReportedState {
  const removal = fieldsOf(given['lastRemoval'])
  return {
    ...listStateOf(given),
    whole: given['whole'] === true,
    accepting: given['accepting'] === true,
    lastError: textOrNullAt(given, 'lastError'),
    waiting: given['waiting'] === true,
    failures: numberAt(given, 'failures'),
    nextTryMs: numberAt(given, 'nextTryMs'),
    askedMs: numberAt(given, 'askedMs'),
    isLeftBehind: given['isLeftBehind'] === true,
    lastRemoval: { sinceS: countAt(removal, 'sinceS'), sequence: countAt(removal, 'sequence') },
    loss: textOrNullAt(given, 'loss'),
    ageMs: numberOrNullAt(given, 'ageMs'),
    auditedMs: numberOrNullAt(given, 'auditedMs'),
  }
}

/** What is said of rows in their own entry. */
export interface Notes {
  /** When they changed by the CRM's clock, wall ms, for a metric. */
  readonly times: readonly number[]
  /** The lists that are left behind. A beat would say so after the rows that refer to what these lists lack. */
  readonly leftBehind: readonly ListName[]
}

const NO_NOTES: Notes = { times: [], leftBehind: [] }

export function encodeNotes(notes: Notes): string {
  return notes.times.length + notes.leftBehind.length === 0 ? '' : JSON.stringify(notes)
}

export function decodeNotes(text: string): Notes {
  if (text === '') return NO_NOTES
  try {
    const given = fieldsOf(JSON.parse(text))
    return {
      times: listAt(given, 'times').filter((time) => typeof time === 'number'),
      leftBehind: LISTS.filter((list) => listAt(given, 'leftBehind').includes(list)),
    }
  } catch {
    return NO_NOTES
  }
}

/** What an instance says of itself with each tick. */
export interface Said {
  /** Rises with each word of this instance. */
  readonly tick: number
  readonly version: string
  /** Whether it could read the CRM. */
  readonly isFit: boolean
  readonly heartbeatMs: number
  /** The token of whose rows it cannot use what it loaded. */
  readonly lacks: string | null
  /** The losses that an operator accepts. */
  readonly accepts: readonly string[]
}

export function encodeSaid(said: Said): string {
  return JSON.stringify(said)
}

/** Returns what an instance says; `null` if it is nothing that this release understands. */
export function decodeSaid(text: string): Said | null {
  try {
    const given = fieldsOf(JSON.parse(text))
    return {
      tick: countAt(given, 'tick'),
      version: textAt(given, 'version'),
      isFit: given['isFit'] === true,
      heartbeatMs: numberAt(given, 'heartbeatMs'),
      lacks: textOrNullAt(given, 'lacks'),
      accepts: textsAt(given, 'accepts'),
    }
  } catch {
    return null
  }
}

function numberOrNullAt(given: JsonFields, name: string): number | null {
  return given[name] === null ? null : numberAt(given, name)
}

function textsAt(given: JsonFields, name: string): readonly string[] {
  return listAt(given, name).filter((text) => typeof text === 'string')
}
