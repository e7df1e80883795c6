import { orderIndexOf } from '../../src/order/list-index.ts'
import { type DateTime, tickOfDateTime } from '../../src/domain/date-time.ts'
import { type Guid, EMPTY_GUID } from '../../src/domain/guid.ts'
import type { RecordList } from '../../src/records/record-list.ts'
import type { Replica } from '../../src/sync/replica.ts'

/** What an answer reveals about one row: the epoch of its details (`null` if it was not shown) and the tickets sold. */
export interface Glimpse {
  readonly list: 'events' | 'venues'
  readonly id: Guid
  readonly epoch: number | null
  readonly sold: number | null
  readonly venue: Guid
}

/** Checks that the list agrees: at any moment it contains exactly the rows that are answered by id (contract §4). */
function agreesWithList<Item>(list: RecordList<Item>, id: Guid, startOf: (record: Item) => DateTime | null): void {
  const index = orderIndexOf(list)
  if (index === null) return
  let listed = 0
  for (const block of index.blocks) listed += block.rows.length
  if (listed !== list.served) throw new Error(`${listed} ${list.kind.name} are listed, and ${list.served} are served`)
  const record = list.get(id)
  if (record === null) return
  const start = startOf(record)
  const tick = start === null ? { ms: 0, ticks: 0 } : tickOfDateTime(start)
  const [number, at] = index.seek(tick, id)
  if (index.blocks[number]?.rows[at]?.id !== id) throw new Error(`${id} is served, and not listed where it belongs`)
}

export function glimpseEvent({ events }: Replica, id: Guid): Glimpse {
  agreesWithList(events.list, id, ({ Start }) => Start)
  const event = events.list.get(id)
  const epoch = event === null ? null : Number(event.Name)
  return { list: 'events', id, epoch, sold: event?.TicketsAvailable ?? null, venue: event?.VenueId ?? EMPTY_GUID }
}

export function glimpseVenue({ venues }: Replica, id: Guid): Glimpse {
  agreesWithList(venues.list, id, () => null)
  const venue = venues.list.get(id)
  return { list: 'venues', id, epoch: venue === null ? null : Number(venue.Name), sold: null, venue: EMPTY_GUID }
}
