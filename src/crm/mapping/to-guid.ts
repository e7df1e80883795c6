import type { Guid } from '../../domain/guid.ts'
import { EMPTY_GUID, parseGuid, parseGuidOrEmpty } from '../../domain/guid.ts'
import type { Cell } from './cell.ts'
import { isBlank } from './is-blank.ts'
import { Misfit } from './misfit.ts'

/** The id of a row; the empty GUID is none (contract §1.1). */
export function toId(cell: Cell): Guid | Misfit {
  return (typeof cell === 'string' ? parseGuid(cell) : null) ?? new Misfit('a GUID that is not all zeros', cell)
}

/** The id of an event's venue; a blank one, like the empty GUID, means that none is assigned yet. */
export function toVenueId(cell: Cell): Guid | Misfit {
  if (isBlank(cell)) return EMPTY_GUID
  return (typeof cell === 'string' ? parseGuidOrEmpty(cell) : null) ?? new Misfit('a GUID, or nothing', cell)
}
