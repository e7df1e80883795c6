import { unreachable } from '../domain/unreachable.ts'
import { isOnPurpose } from '../domain/withheld.ts'
import type { Observation, ReadReport, ShareChange, WithheldCount } from './observation.ts'
import { printable } from './printable.ts'

type Level = 'info' | 'warn' | 'error'

export interface LogLine {
  readonly level: Level
  /** A sentence for a person. */
  readonly message: string
  /** The same for a machine. */
  readonly fields: Readonly<Record<string, unknown>>
}

const MOST_COLUMNS = 20
const LONGEST_COLUMN = 60

/** What is said of an observation; null where it is not worth a line. */
export function logLine(observation: Observation): LogLine | null {
  switch (observation.kind) {
    case 'read-ended':
      return readLine(observation.read)
    case 'crm-request':
    case 'changes-published':
      // Metrics alone: every refresh would be a line.
      return null
    case 'brake-engaged': {
      const { list, absent, served } = observation
      const message = `${absent} of ${served} ${list} are missing from the CRM's list: not believed until \`./marquee accept\``
      return { level: 'error', message, fields: { list, absent, served } }
    }
    case 'shorter-accepted': {
      const { lists } = observation
      const message = `the operator accepted the shorter list of ${lists.join(' and ')}`
      return { level: 'warn', message, fields: { lists } }
    }
    case 'drift-found': {
      const { list, byColumn } = observation
      const message = `the CRM had not reported changes of its ${list}: ${JSON.stringify(byColumn)}`
      return { level: 'warn', message, fields: { list, byColumn } }
    }
    case 'no-change-tracking': {
      const { list, table, why } = observation
      const fact =
        why === 'off'
          ? `the CRM tracks no changes of ${table}`
          : `the CRM tracks the changes of ${table}, but reading them fails again and again`
      return { level: 'warn', message: `${fact}: every refresh reads all ${list}`, fields: { list, table, why } }
    }
    case 'labels-missing': {
      const { table, column, codes } = observation
      const count = `${codes} ${codes === 1 ? 'code' : 'codes'}`
      const message = `${count} in ${column} of ${table} without a label in the CRM: the rows are shown without it; \`./marquee check\` tells which`
      return { level: 'warn', message, fields: { table, column, codes } }
    }
    case 'columns-ignored': {
      const { list } = observation
      const columns = observation.columns.slice(0, MOST_COLUMNS).map((column) => printable(column, LONGEST_COLUMN))
      const more = observation.columns.length - columns.length
      const names = `${columns.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
      const message = `columns of the ${list} that Marquee does not know are ignored: ${names}`
      return { level: 'warn', message, fields: { list, columns } }
    }
    case 'suspicious': {
      const { list, column, what, count, where } = observation
      const named = printable(column, LONGEST_COLUMN)
      const first = where === null ? '' : `, first at ${where}`
      const message = `suspicious in the ${list}: ${named} ${what} (${count} ${count === 1 ? 'row' : 'rows'}${first})`
      return { level: 'warn', message, fields: { list, column: named, what, count, where } }
    }
    case 'wall-times': {
      const { list, zone, isSet, count } = observation
      const fact = `${count} dates of the ${list} have no offset and are read in ${zone}`
      const fields = { list, zone, isSet, count }
      if (isSet) return { level: 'info', message: fact, fields }
      return { level: 'warn', message: `${fact}, as timeZone was never set: set it, such as Europe/London`, fields }
    }
    case 'crm-noticed':
      return { level: 'warn', message: observation.message, fields: {} }
    case 'base-read': {
      const { rows, ageMs } = observation
      const durationMs = Math.round(observation.durationMs)
      const message = `the base has ${rows} rows of ${Math.round(ageMs / 1000)} s ago, read in ${durationMs} ms: served once the CRM's changes since are known`
      return { level: 'info', message, fields: { rows, ageMs: Math.round(ageMs), durationMs } }
    }
    case 'base-ignored': {
      const { reason } = observation
      return {
        level: 'warn',
        message: `the base is not used, and the lists are read in full: ${reason}`,
        fields: { reason },
      }
    }
    case 'base-written': {
      const { rows, bytes } = observation
      const durationMs = Math.round(observation.durationMs)
      const message = `the base is written, ${rows} rows in ${bytes} bytes: the next start goes on from it`
      return { level: 'info', message, fields: { rows, bytes, durationMs } }
    }
    case 'base-not-written': {
      const { reason } = observation
      const message = `the base cannot be written: ${reason}; a start without one reads the lists in full`
      return { level: 'warn', message, fields: { reason } }
    }
    case 'share-changed':
      return shareLine(observation.what, observation.detail)
    case 'request-answered': {
      const { method, path, status, type, durationMs, traceId, route } = observation.request
      const durationMsRounded = Math.round(durationMs * 1000) / 1000
      const message = `${method} ${path} ${status} ${type} ${durationMsRounded} ms`
      const fields = { method, path, route, status, type, durationMs: durationMsRounded }
      return { level: 'info', message, fields: traceId === null ? fields : { ...fields, traceId } }
    }
    case 'stopping': {
      const { signal, drainMs } = observation
      const message = `${signal}: not ready from now on; what is in flight may end within ${drainMs / 1000} s`
      return { level: 'info', message, fields: { signal, drainMs } }
    }
    case 'reloaded': {
      const { changed } = observation
      const what = changed.length === 0 ? 'it is what it was' : `${changed.join(', ')} took effect`
      return { level: 'info', message: `SIGHUP: the configuration was read again; ${what}`, fields: { changed } }
    }
    case 'reload-refused': {
      const { problems } = observation
      return { level: 'warn', message: `SIGHUP: all stays as it was: ${problems.join('; ')}`, fields: { problems } }
    }
    case 'internal-error':
      return { level: 'error', message: `internal error: ${observation.message}`, fields: {} }
    default:
      return unreachable(observation)
  }
}

function sumOf(counts: readonly WithheldCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0)
}

function countText({ column, fault, count }: WithheldCount): string {
  return `${column === null ? '' : `${printable(column, LONGEST_COLUMN)} `}${fault} (${count})`
}

function readLine(read: ReadReport): LogLine | null {
  const { list, kind, outcome, rows, changed, served, withheld } = read
  const durationMs = Math.round(read.durationMs)
  const fields = { list, read: kind, outcome, durationMs, rows, changed, served, withheld }
  if (read.message !== null) {
    return { level: 'warn', message: `the ${list} could not be read (${outcome}): ${read.message}`, fields }
  }
  const mistakes = read.newlyWithheld.filter((count) => !isOnPurpose(count))
  if (read.servesNothing || mistakes.length > 0) {
    const counts = (read.servesNothing ? read.newlyWithheld : mistakes).map(countText).join(', ')
    const nothing = `nothing of the ${list} is served, though there are ${withheld} rows`
    const more = `${sumOf(mistakes)} more rows of the ${list} are withheld for mistakes, ${withheld} in all; ${served} are served`
    const fact = read.servesNothing ? nothing : more
    const message = `${fact}${counts === '' ? '' : `; new among them: ${counts}`}. \`./marquee check\` tells all`
    return { level: 'warn', message, fields: { ...fields, newlyWithheld: read.newlyWithheld } }
  }
  if (changed === 0) return null
  const took = `${rows} rows in ${durationMs} ms (${kind})`
  const message = `${list}: ${served} served, ${withheld} withheld, ${changed} changed; read ${took}`
  return { level: 'info', message, fields }
}

const SHARE_LINES: Readonly<Record<ShareChange, readonly [Level, string]>> = {
  'took-reading': ['info', 'this instance reads the CRM for all now'],
  'lost-reading': ['warn', 'this instance no longer reads the CRM for all'],
  'reads-alone': ['warn', 'nobody was heard of in the store: this instance reads the CRM for itself'],
  'store-lost': ['error', 'the store is lost; it is tried again and again'],
  'store-found': ['info', 'the store answers'],
  're-based': ['warn', 'this instance begins again with the base in the store'],
  'base-written': ['info', 'the base in the store is written'],
  'base-ignored': ['warn', 'the base in the store is not used'],
  'marks-refused': ['warn', 'marks in the store are not believed; share.key must be the same for all'],
  'entry-refused': ['error', 'what is in the store is not believed; share.key must be the same for all'],
  'key-changed': ['info', 'share.key was read again, and is another'],
  'key-unusable': ['error', 'share.key was read again, and cannot be used'],
  'bound-too-short': ['warn', 'freshness.bound is too short here'],
  unsigned: ['warn', 'share.key is not set: whoever can write to the store decides what is served'],
  unfit: ['warn', 'this instance could not read the CRM if it had to'],
}

function shareLine(what: ShareChange, detail: string | null): LogLine {
  const [level, message] = SHARE_LINES[what]
  if (detail === null) return { level, message, fields: {} }
  return { level, message: `${message}: ${printable(detail)}`, fields: { detail: printable(detail) } }
}
