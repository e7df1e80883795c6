import type { Observation } from '../observe/observation.ts'
import { suspicionSaid } from '../faults/fault-words.ts'
import { type WithheldRow, type Suspicion, isOnPurpose } from '../domain/withheld.ts'
import type { Configuration } from '../config/configuration.ts'
import { nearestName } from '../domain/nearest-name.ts'
import { columnsRead } from '../crm/files/list-file.ts'
import { textFound, withheldWords } from '../faults/fault-words.ts'
import type { ListName } from '../domain/field.ts'
import type { ServedLists } from '../sync/served-list.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Suspicions } from '../crm/mapping/suspicions.ts'
import type { CrmRead } from '../app/assemble.ts'
import { type FaultGroup, faultGroups } from '../faults/fault-groups.ts'
import type { TextKeyFor } from '../proposal/text-keys.ts'
import { withheldVenues } from '../faults/venue-references.ts'
import { printable } from '../domain/printable.ts'
import { ZONE_DATA_VERSION } from '../domain/zone-data.ts'

type SuspiciousReport = { readonly kind: 'event' | 'venue' } & Omit<Suspicion, 'where'>

/** The values that pass a `not` condition, most frequent first. */
export interface Passing {
  readonly kind: 'event' | 'venue'
  readonly column: string
  readonly values: readonly { readonly value: string; readonly count: number }[]
}

/** What `check --json` prints. */
export type Report = ReturnType<typeof reportOf>['report']

/** Facts that only the printed report needs. */
export type Asides = ReturnType<typeof reportOf>['asides']

/** The zone of dates without an offset, and whether it is configured. */
interface ZoneReport {
  readonly name: string
  readonly set: boolean
}

/** The report without a configuration. */
export const NOTHING_READ = {
  ok: false,
  events: 0,
  venues: 0,
  groups: [],
  suspicious: [],
  zone: { name: null, set: false, datesWithoutOffset: 0 },
  timeZoneData: ZONE_DATA_VERSION,
  withheld: [],
  ignored: [],
  fields: [],
}

export function reportOf(
  { lists, marquee: { suspicions }, failures, observations }: CrmRead,
  configuration: Configuration,
  configurationWarnings: readonly string[],
  textKeyFor: TextKeyFor,
  unmatched: readonly Suspicion[],
) {
  const { crm, isTimeZoneSet } = configuration
  const held = LISTS.map(([kind, list]) => ({ kind, list, rows: inOrder(lists[list].list.withheldRows()) }))
  const withheld = held.flatMap(({ kind, rows }) =>
    rows.map(({ id, withheld: row }) => ({ kind, where: row.where, id, ...withheldWords(row, textKeyFor) })),
  )
  const rows = held.flatMap((each) => each.rows)
  const ignoredOf = ignoredColumns(observations)
  const wallCounts = [...suspicions.events.wallDates.values(), ...suspicions.venues.wallDates.values()]
  const datesWithoutOffset = wallCounts.reduce((sum, count) => sum + count, 0)
  const zone = { name: crm.timeZone.id, set: isTimeZoneSet, datesWithoutOffset }
  const nothing = nothingServed(lists)
  const mistakes = rows.filter((row) => !isOnPurpose(row.withheld)).length
  const groups = held
    .flatMap((each) => faultGroups(each.kind, each.rows, textKeyFor))
    // Mistakes first, regardless of the list.
    .toSorted((left, right) => Number(isOnPurpose(left)) - Number(isOnPurpose(right)))
  const withheldReference = withheldVenues(lists, suspicions)
  const warnings = [
    ...configurationWarnings,
    ...observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : [])),
    ...nothing,
    ...misspeltColumns(ignoredOf, configuration),
    ...zoneToCome(groups, zone, suspicions.events),
    ...(withheldReference === null ? [] : [withheldReference]),
  ]
  // A read that fails late has already applied rows, but a start would not serve them.
  const isRead = (list: ListName): boolean => !failures.some((failed) => failed.list === list)
  const passing = LISTS.flatMap(([kind, list]) => passingOf(kind, suspicions[list]))
  const report = {
    // Whether both lists were read.
    ok: failures.length === 0,
    events: isRead('events') ? lists.events.list.served : 0,
    venues: isRead('venues') ? lists.venues.list.served : 0,
    groups,
    suspicious: [
      ...suspiciousIn('event', suspicions.events, lists.events.list),
      ...unmatched.map((suspicion) => toldIn('event', suspicion)),
      ...(isTimeZoneSet
        ? []
        : [...wallDates('event', suspicions.events, zone), ...wallDates('venue', suspicions.venues, zone)]),
      ...suspiciousIn('venue', suspicions.venues, lists.venues.list),
    ],
    zone,
    timeZoneData: ZONE_DATA_VERSION,
    ...(passing.length === 0 ? {} : { passing }),
    withheld,
    ignored: [...new Set([...ignoredOf.values()].flat())],
    warnings,
    problems: failures.map(({ list, failure }) => `the ${list} could not be read: ${failure.message}`),
    fields: LISTS.filter(([, list]) => isRead(list)).flatMap(([kind, list]) =>
      suspicions[list].fields.map((found) => ({ kind, ...found })),
    ),
  }
  // The numbers of rows include those of lists that could not be read.
  const onPurpose = rows.length - mistakes
  return { report, asides: { mistakes, onPurpose, servesNothing: nothing.length > 0, ignoredOf } }
}

const LISTS = [
  ['event', 'events'],
  ['venue', 'venues'],
] as const

// Compares numbers in texts as numbers: line 9 before line 10.
const BY_PLACE = new Intl.Collator('en', { numeric: true })

function inOrder(rows: Iterable<WithheldRow>): readonly WithheldRow[] {
  return [...rows].toSorted((left, right) => BY_PLACE.compare(left.withheld.where, right.withheld.where))
}

export function zoneNotSet({ name }: ZoneReport): string {
  return `has no offset and timeZone is not set, so it is read as ${name}`
}

function suspiciousIn<Item>(
  kind: 'event' | 'venue',
  suspicions: Suspicions,
  records: RecordList<Item>,
): readonly SuspiciousReport[] {
  return suspicions.list((id) => records.serves(id)).map((suspicion) => toldIn(kind, suspicionSaid(suspicion)))
}

function toldIn(kind: SuspiciousReport['kind'], { column, what, count, example }: Suspicion): SuspiciousReport {
  return { kind, column, what, count, example }
}

function passingOf(kind: Passing['kind'], { passed }: Suspicions): readonly Passing[] {
  return Array.from(passed, ([column, values]) => ({
    kind,
    column,
    values: values.map(([value, count]) => ({ value: textFound(value), count })),
  }))
}

function wallDates(
  kind: SuspiciousReport['kind'],
  suspicions: Suspicions,
  zone: ZoneReport,
): readonly SuspiciousReport[] {
  return Array.from(suspicions.wallDates, ([column, count]) => ({
    kind,
    column,
    what: zoneNotSet(zone),
    count,
    example: `in ${column}: set timeZone, such as Europe/London`,
  }))
}

function ignoredColumns(observations: readonly Observation[]): ReadonlyMap<ListName, readonly string[]> {
  const both = LISTS.map(([, list]) => {
    const seen = observations.flatMap((one) => (one.kind === 'columns-ignored' && one.list === list ? one.columns : []))
    return [list, seen] as const
  })
  return new Map(both.filter(([, columns]) => columns.length > 0))
}

/** Names columns that no row has: a renamed column withholds all rows, and their faults do not name the cause. */
function nothingServed({ events, venues }: ServedLists): readonly string[] {
  return [events, venues].flatMap(({ isLoaded, list: { kind, served, withheld, unidentified } }) => {
    const count = withheld + unidentified.length
    if (served > 0) return []
    // A house may have no venues of its own.
    if (count === 0) return isLoaded && kind.name === 'events' ? ['no event would be served: the list is empty'] : []
    const all = count === 1 ? 'the only row is' : `all ${count.toLocaleString('en')} rows are`
    return [`no ${kind.name} would be served: ${all} withheld`]
  })
}

function misspeltColumns(
  ignoredOf: ReadonlyMap<ListName, readonly string[]>,
  { crm, representation }: Configuration,
): readonly string[] {
  return [...ignoredOf].flatMap(([list, columns]) => {
    const { columns: known, isMapped } = columnsRead(crm, list, representation.further)
    // Configured columns exist, or the list could not be read.
    if (isMapped) return []
    return columns.flatMap((column) => {
      const near = nearestName(column.replaceAll(/[\s_-]/g, ''), known)
      if (near === null) return []
      const why =
        near === column.trim()
          ? ' It begins or ends with a blank.'
          : isCase(near, column)
            ? ' Names are case-sensitive.'
            : ''
      return [`the ${list} have no field ${JSON.stringify(column)}; did you mean ${near}?${why}`]
    })
  })
}

function isCase(left: string, right: string): boolean {
  return left.toLowerCase() === right.trim().toLowerCase()
}

/** Warns of a zone that is not configured, even if no date can be read yet. */
function zoneToCome(
  groups: readonly FaultGroup[],
  { name, set }: ZoneReport,
  { dateColumns }: Suspicions,
): readonly string[] {
  const dates = groups.find(
    ({ fault, column }) => fault === 'unreadable' && column !== null && dateColumns.includes(column),
  )
  if (set || dates === undefined) return []
  return [
    `timeZone is not set: ${dates.column} without an offset would be read in ${name}; set timeZone, for example timeZone: Europe/London`,
  ]
}

type FieldReport = Suspicions['fields'][number] & { readonly kind: 'event' | 'venue' }

const LONGEST = 40

/** Returns the table: for each list its name, then a line for each field. */
export function fieldTable(fields: readonly FieldReport[]): readonly string[] {
  return (['event', 'venue'] as const).flatMap((kind) => {
    const rows = fields.filter((field) => field.kind === kind)
    if (rows.length === 0) return []
    const names = rows.map(({ field }) => field)
    const froms = rows.map(({ from }) => printable(from ?? 'nothing', LONGEST))
    const counts = rows.map(({ filled, of }) => `${filled.toLocaleString('en')} of ${of.toLocaleString('en')}`)
    const [nameWidth, fromWidth, countWidth] = [names, froms, counts].map((texts) =>
      Math.max(...texts.map(({ length }) => length)),
    )
    const lines = rows.map(({ example }, index) => {
      const name = names[index]?.padEnd(nameWidth ?? 0)
      const from = froms[index]?.padEnd(fromWidth ?? 0)
      const count = counts[index]?.padStart(countWidth ?? 0)
      const shown = example === null ? '' : `  e.g. ${printable(example, LONGEST)}`
      return `  ${name} ← ${from}  ${count}${shown}`
    })
    return ['', `Fields of the ${kind}s, their sources, and the number of rows with a value:`, ...lines]
  })
}
