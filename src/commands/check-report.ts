import type { CrmSettings } from '../config/configuration.ts'
import type { Observation } from '../observe/observation.ts'
import { EMPTY_GUID } from '../domain/guid.ts'
import type { Withheld } from '../domain/withheld.ts'
import { nearestName } from '../config/nearest-name.ts'
import { columnsRead } from '../crm/files/list-file.ts'
import { withheldWords } from '../operations/withheld.ts'
import type { ListName } from '../domain/field.ts'
import type { WithheldRow } from '../replica/packed-withheld.ts'
import type { Replica } from '../replica/replica.ts'
import type { CrmRead } from './assemble.ts'

export interface WithheldReport {
  readonly kind: 'event' | 'venue'
  readonly where: string
  readonly id: string | null
  readonly reason: string
  readonly remedy: string
}

/** What `check --json` prints. */
export interface Report {
  /** Both lists were read. */
  readonly ok: boolean
  readonly events: number
  readonly venues: number
  /** In the order of the lists. */
  readonly withheld: readonly WithheldReport[]
  readonly ignored: readonly string[]
  readonly warnings: readonly string[]
  readonly problems: readonly string[]
}

/** What a person is told beside the report. */
export interface Asides {
  /** What each of `withheld` was made of. */
  readonly rows: ReadonlyMap<WithheldReport, Withheld>
  readonly ignoredOf: ReadonlyMap<ListName, readonly string[]>
}

export const NOTHING_READ: Omit<Report, 'warnings' | 'problems'> = {
  ok: false,
  events: 0,
  venues: 0,
  withheld: [],
  ignored: [],
}

/** What the reading of both lists came to. */
export function reportOf(
  { marquee: { replica }, failures, observations }: CrmRead,
  configurationWarnings: readonly string[],
  settings: CrmSettings,
): Report & Asides {
  const rows = new Map<WithheldReport, Withheld>()
  const withheld = [
    ...withheldOf('event', replica.events.list.withheldRows(), rows),
    ...withheldOf('venue', replica.venues.list.withheldRows(), rows),
  ]
  const ignoredOf = ignoredColumns(observations)
  const warnings = [
    ...configurationWarnings,
    ...observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : [])),
    ...nothingServed(replica),
    ...misspeltColumns(ignoredOf, settings),
    ...eventsWithoutVenue(replica),
  ]
  return {
    ok: failures.length === 0,
    events: replica.events.list.served,
    venues: replica.venues.list.served,
    withheld,
    ignored: [...new Set([...ignoredOf.values()].flat())],
    warnings,
    problems: failures.map(({ list, failure }) => `the ${list} could not be read: ${failure.message}`),
    rows,
    ignoredOf,
  }
}

// Lines and items in their order as numbers: line 9 before line 10.
const BY_PLACE = new Intl.Collator('en', { numeric: true })

function withheldOf(
  kind: 'event' | 'venue',
  held: Iterable<WithheldRow>,
  rows: Map<WithheldReport, Withheld>,
): readonly WithheldReport[] {
  const reports = Array.from(held, ({ id, withheld }): WithheldReport => {
    const report = { kind, where: withheld.where, id, ...withheldWords(withheld) }
    rows.set(report, withheld)
    return report
  })
  return reports.toSorted((left, right) => BY_PLACE.compare(left.where, right.where))
}

function ignoredColumns(observations: readonly Observation[]): ReadonlyMap<ListName, readonly string[]> {
  const ignored = new Map<ListName, readonly string[]>()
  for (const list of ['events', 'venues'] as const) {
    const columns = observations.flatMap((seen) =>
      seen.kind === 'columns-ignored' && seen.list === list ? seen.columns : [],
    )
    if (columns.length > 0) ignored.set(list, columns)
  }
  return ignored
}

/** A renamed column takes all rows down, and the rows' own faults do not say that. */
function nothingServed({ events, venues }: Replica): readonly string[] {
  return [events.list, venues.list].flatMap(({ kind, served, withheld, extras }) => {
    const count = withheld + extras.length
    return served > 0 || count === 0 ? [] : [`no ${kind.name} at all would be served: every row is withheld`]
  })
}

function misspeltColumns(
  ignoredOf: ReadonlyMap<ListName, readonly string[]>,
  settings: CrmSettings,
): readonly string[] {
  return [...ignoredOf].flatMap(([list, columns]) => {
    const { columns: known, isMapped } = columnsRead(settings, list)
    // What the configuration names is there, or the list could not be read.
    if (isMapped) return []
    return columns.flatMap((column) => {
      const near = nearestName(column.replaceAll(/[\s_-]/g, ''), known)
      return near === null ? [] : [`the ${list} have no field ${JSON.stringify(column)}; did you mean ${near}?`]
    })
  })
}

function eventsWithoutVenue({ events, venues }: Replica): readonly string[] {
  if (venues.list.size === 0) return []
  let count = 0
  let first = ''
  for (const row of events.list.rows()) {
    const id = events.list.idOf(row)
    const venue = events.list.get(id)?.VenueId ?? EMPTY_GUID
    if (venue === EMPTY_GUID || venues.list.inspect(venue)?.served === true) continue
    count++
    if (first === '' || id < first) first = id
  }
  if (count === 0) return []
  const fact = 'a venue that is not served, so'
  if (count === 1) return [`the event ${first} names ${fact} its venue is answered with 404`]
  return [`${count} events, such as ${first}, name ${fact} their venues are answered with 404`]
}
