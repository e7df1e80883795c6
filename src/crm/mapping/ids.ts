import { createHash } from 'node:crypto'
import type { CrmSettings } from '../../config/configuration.ts'
import type { Guid } from '../../domain/guid.ts'
import { EMPTY_GUID, parseGuid, parseGuidOrEmpty } from '../../domain/guid.ts'
import type { Cell } from './cell.ts'
import { Misfit, isBlank, plainText } from './cell.ts'

/** The id of a row; the empty GUID is not one (contract §1.1). */
export function toId(cell: Cell): Guid | Misfit {
  return (typeof cell === 'string' ? parseGuid(cell) : null) ?? new Misfit('a GUID that is not all zeros', cell)
}

/** The id of an event's venue; a blank one, like the empty GUID, means that none is assigned yet. */
export function toVenueId(cell: Cell): Guid | Misfit {
  if (isBlank(cell)) return EMPTY_GUID
  return (typeof cell === 'string' ? parseGuidOrEmpty(cell) : null) ?? new Misfit('a GUID, or nothing', cell)
}

/** The id of a row whose CRM has other ids than GUIDs: that of its text in `namespace`, apart from other tables' ids. */
export function toNamedId(namespace: Guid, from: string): (cell: Cell) => Guid | Misfit {
  return (cell) => {
    const text = isBlank(cell) ? null : plainText(cell)
    return text === null ? new Misfit('an id', cell) : uuidV5(namespace, `${from}/${text}`)
  }
}

/** As `toNamedId`, for the venue that an event names; a blank one means that none is assigned yet. */
export function toNamedVenueId(namespace: Guid, venuesFrom: string): (cell: Cell) => Guid | Misfit {
  const named = toNamedId(namespace, venuesFrom)
  return (cell) => (isBlank(cell) ? EMPTY_GUID : named(cell))
}

/** The name-based UUID of a name in a namespace (RFC 9562 §5.5), the same for ever. */
export function uuidV5(namespace: Guid, name: string): Guid {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const guid = parseGuid(hash.toString('hex', 0, 16))
  if (guid === null) throw new Error('a hash is not a GUID')
  return guid
}

/** The ids that a record is known by here, for the CRM's own id: the event's, then the venue's. */
export type IdsOf = (crmId: string) => readonly Guid[]

/** Null where the CRM's ids are GUIDs, and so are known by themselves. */
export function idsOf(crm: CrmSettings): IdsOf | null {
  if (crm.kind !== 'postgres' || crm.idNamespace === null) return null
  const { idNamespace, events, venues } = crm
  return (crmId) => [events.from, venues.from].map((from) => uuidV5(idNamespace, `${from}/${crmId}`))
}
