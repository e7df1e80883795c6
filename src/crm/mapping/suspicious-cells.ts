import { statusPosition, statusSaid } from '../../domain/event-status.ts'
import type { SuspicionCode } from '../../domain/withheld.ts'
import type { EventRecord } from '../../domain/event.ts'
import type { FurtherField } from '../../domain/further.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { soldOutWord } from '../../domain/zero-words.ts'
import { columnsOf } from '../../config/crm/sources.ts'
import { type Cell, type CellObject, cellAt, isBlank, showCell } from '../cells/cell.ts'
import type { DateNotes } from './dates.ts'
import { type ListSetting, sourceNamed } from './list-setting.ts'
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
  /** Describes a cell that says that the event is sold out; `null` if none does. */
  readonly soldOutNote: (row: CellObject) => SuspiciousCell | null
  /** Describes the cells that no field reads and that say that the event is cancelled or sold out. */
  readonly unreadNotes: (record: EventRecord, row: CellObject) => readonly SuspiciousCell[]
}

export type NameOf = (field: string) => string

const LONGEST_SECONDS = 7 * 86_400

/** What is suspicious in an event: a field, compared with another one or alone. */
const EVENT_RULES: readonly {
  readonly code: SuspicionCode
  readonly field: 'Finish' | 'Price' | 'TicketsAvailable'
  readonly other?: 'Start' | 'TicketCapacity'
  readonly see: (record: EventRecord, lastsSeconds: number, facts: Pick<EventFacts, 'hasCapacity'>) => boolean
}[] = [
  { code: 'before', field: 'Finish', other: 'Start', see: (_, lastsSeconds) => lastsSeconds < 0 },
  { code: 'long', field: 'Finish', other: 'Start', see: (_, lastsSeconds) => lastsSeconds > LONGEST_SECONDS },
  { code: 'negative', field: 'Price', see: ({ Price }) => Price.startsWith('-') },
  {
    code: 'above',
    field: 'TicketsAvailable',
    other: 'TicketCapacity',
    see: ({ TicketsAvailable, TicketCapacity }, _, { hasCapacity }) => hasCapacity && TicketsAvailable > TicketCapacity,
  },
]

export function suspiciousEventCells(
  record: EventRecord,
  nameOf: NameOf,
  facts: EventFacts,
  suspicions: Suspicions,
  row: CellObject,
): readonly SuspiciousCell[] {
  const { start, finish, statusNote, soldOutNote, unreadNotes } = facts
  suspicions.seeTimes(start, finish)
  const lastsSeconds = finish.epochSeconds - start.epochSeconds
  const cells: SuspiciousCell[] = []
  for (const { code, field, other, see } of EVENT_RULES) {
    if (!see(record, lastsSeconds, facts)) continue
    const of = other === undefined ? '' : nameOf(other)
    const found = other === undefined ? `${record[field]}` : `${record[field]}, and ${of} ${record[other]}`
    cells.push({ column: nameOf(field), code, of, found })
  }
  if (start.isDay && !finish.isDay) cells.push({ column: start.column, code: 'no-time', found: record.Start })
  const status = statusNote(record)
  if (status !== null) cells.push(status)
  const soldOut = record.TicketsAvailable > 0 ? soldOutNote(row) : null
  if (soldOut !== null) cells.push(soldOut)
  cells.push(...unreadNotes(record, row))
  return cells
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
      ? [{ column: nameOf(field), code: 'coordinate', of: String(most), found: String(record[field]) } as const]
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
    if (!words.has(key) && words.size < MOST_STATUS_WORDS) words.set(key, showCell(word))
    return { column: nameOf('Status'), code: 'status', of: words.get(key) ?? '', found: showCell(text) }
  }
}

/** Returns the function that looks for `ausverkauft` in the columns of the status and of the conditions. */
export function soldOutNotes({ fields, active, showOnWeb }: ListSetting, nameOf: NameOf): EventFacts['soldOutNote'] {
  const ofStatus = ['Status', 'StatusText'].flatMap((field) => columnsOf(sourceNamed(fields, field)))
  const ofConditions = [active, showOnWeb].flatMap((condition) =>
    condition === null || 'whenBlank' in condition ? [] : condition.map(({ column }) => column),
  )
  const columns = [...new Set([...ofStatus, ...ofConditions])].map((column) => ({ column, cell: cellAt(column) }))
  const of = nameOf('TicketsAvailable')
  return (row) => {
    for (const { column, cell: cellOf } of columns) {
      const cell = cellOf(row)
      if (typeof cell === 'string' && soldOutWord(cell) !== null)
        return { column, code: 'sold-out', of, found: showCell(cell) }
    }
    return null
  }
}
