import type { Guid } from '../../domain/guid.ts'
import { EMPTY_GUID } from '../../domain/guid.ts'
import type { Cell } from './cell.ts'
import { sourceDigits } from './cell.ts'
import { isBlank } from './is-blank.ts'
import { Misfit } from './misfit.ts'
import { uuidV5 } from './uuid-v5.ts'

/** The id of a row whose CRM has other ids than GUIDs: that of its text in `namespace`, apart from other tables' ids. */
export function toNamedId(namespace: Guid, from: string): (cell: Cell) => Guid | Misfit {
  return (cell) => {
    const text = isBlank(cell) ? null : typeof cell === 'string' ? cell : sourceDigits(cell)
    return text === null ? new Misfit('an id', cell) : uuidV5(namespace, `${from}/${text}`)
  }
}

/** As `toNamedId`, for the venue that an event names; a blank one means that none is assigned yet. */
export function toNamedVenueId(namespace: Guid, venuesFrom: string): (cell: Cell) => Guid | Misfit {
  const named = toNamedId(namespace, venuesFrom)
  return (cell) => (isBlank(cell) ? EMPTY_GUID : named(cell))
}
