import { EVENT_STATUSES, statusPosition, statusSaid } from '../../domain/event-status.ts'
import type { EventRecord } from '../../domain/event.ts'
import type { FurtherField } from '../../domain/further.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, isBlank, showCell } from '../cells/cell.ts'
import type { DateNotes } from './dates.ts'
import type { SuspiciousCell, Suspicions } from './suspicions.ts'

/** What the fields of the current row say besides its record. */
export interface EventFacts {
  /** Whether TicketCapacity has a source. */
  readonly hasCapacity: boolean
  /** The dates as numbers: comparing their texts would take 0.2 µs. */
  readonly start: DateNotes
  readonly finish: DateNotes
  /** Describes a status that means nothing; `null` if there is nothing to say. */
  readonly statusNote: (record: EventRecord) => SuspiciousCell | null
}

export type NameOf = (field: string) => string

const LONGEST_SECONDS = 7 * 86_400

export function suspiciousEventCells(
  record: EventRecord,
  nameOf: NameOf,
  { hasCapacity, start, finish, statusNote }: EventFacts,
  suspicions: Suspicions,
): readonly SuspiciousCell[] {
  const { TicketCapacity, TicketsAvailable, Price } = record
  const cells: SuspiciousCell[] = []
  suspicions.seeTimes(start, finish)
  const lastsSeconds = finish.epochSeconds - start.epochSeconds
  if (lastsSeconds < 0) cells.push(compared(record, nameOf, 'Finish', 'is before', 'Start'))
  if (lastsSeconds > LONGEST_SECONDS)
    cells.push(compared(record, nameOf, 'Finish', 'is more than 7 days after', 'Start'))
  if (Price.startsWith('-')) cells.push({ column: nameOf('Price'), what: 'is negative', found: Price })
  if (hasCapacity && TicketsAvailable > TicketCapacity)
    cells.push(compared(record, nameOf, 'TicketsAvailable', 'is above', 'TicketCapacity'))
  const status = statusNote(record)
  if (status !== null) cells.push(status)
  return cells
}

type Compared = 'Start' | 'Finish' | 'TicketCapacity' | 'TicketsAvailable'

function compared(record: EventRecord, nameOf: NameOf, field: Compared, what: string, other: Compared): SuspiciousCell {
  const found = `${record[field]}, and ${nameOf(other)} ${record[other]}`
  return { column: nameOf(field), what: `${what} ${nameOf(other)}`, found }
}

/** Returns impossible coordinates: most likely a decimal point was read as a thousands separator. */
export function suspiciousVenueCells(record: VenueRecord, nameOf: NameOf): readonly SuspiciousCell[] {
  return (
    [
      ['Longitude', 180],
      ['Latitude', 90],
    ] as const
  ).flatMap(([field, most]) =>
    Math.abs(Number(record[field])) > most
      ? [{ column: nameOf(field), what: `is not between -${most} and ${most}`, found: String(record[field]) }]
      : [],
  )
}

/** So many words are counted one by one; a column of remarks has one in every row. */
const MOST_STATUS_WORDS = 20

/** Returns the function that describes a status that means nothing, one note for each word. */
export function statusNotes(further: readonly FurtherField[], nameOf: NameOf): EventFacts['statusNote'] {
  const at = statusPosition(further)
  if (at === -1) return () => null
  const words = new Map<string, string>()
  return ({ Further }) => {
    const text: Cell = Further?.[at] ?? null
    if (typeof text !== 'string' || isBlank(text) || statusSaid(text) !== null) return null
    const word = trimWhiteSpace(text)
    const key = word.toLowerCase()
    if (!words.has(key) && words.size < MOST_STATUS_WORDS) words.set(key, `with the value ${showCell(word)}`)
    const what = `${words.get(key) ?? 'in other rows'} ${MEANS_NOTHING}`
    return { column: nameOf('Status'), what, found: showCell(text) }
  }
}

const MEANS_NOTHING = `means none of ${EVENT_STATUSES.join(', ')}, and the event counts as scheduled: say in values of Status what it means`
