import type { Expected } from '../../domain/withheld.ts'
import { type Guid, EMPTY_GUID, parseGuid, parseGuidOrEmpty } from '../../domain/guid.ts'
import { crmIds, remembered } from '../../domain/named-ids.ts'
import { type Cell, CellFault, isBlank, shownText } from '../cells/cell.ts'

const GUID: Expected = { kind: 'guid', mayBeBlank: false }
const GUID_OR_NOTHING: Expected = { kind: 'guid', mayBeBlank: true }
const ID: Expected = { kind: 'id' }

/** Converts a cell to a row's id. The empty GUID is not an id (contract §1.1). */
export function toId(cell: Cell): Guid | CellFault {
  return (typeof cell === 'string' ? parseGuid(cell) : null) ?? new CellFault(GUID, cell)
}

/**
 * Converts a cell to the id of an event's venue. A blank cell or the empty GUID means that no venue is assigned yet.
 */
export function toVenueId(cell: Cell): Guid | CellFault {
  if (isBlank(cell)) return EMPTY_GUID
  return (typeof cell === 'string' ? parseGuidOrEmpty(cell) : null) ?? new CellFault(GUID_OR_NOTHING, cell)
}

/** Returns a function that converts a cell with an id that is not a GUID to a UUID in `namespace`. */
export function toNamedId(namespace: Guid, from: string): (cell: Cell) => Guid | CellFault {
  const idOf = crmIds(namespace, from)
  return (cell) => {
    const text = isBlank(cell) ? null : shownText(cell)
    return text === null ? new CellFault(ID, cell) : idOf(text)
  }
}

/** The number of venue ids cached. */
const MOST_VENUES = 10_000

/** As `toNamedId`, for an event's venue. A blank cell means that no venue is assigned yet. */
export function toNamedVenueId(namespace: Guid, venuesFrom: string): (cell: Cell) => Guid | CellFault {
  const named = remembered(toNamedId(namespace, venuesFrom), MOST_VENUES)
  return (cell) => (isBlank(cell) ? EMPTY_GUID : named(cell))
}
