import type { CrmSettings } from '../../config/configuration.ts'
import type { FileName } from '../../config/crm/files.ts'
import type { ListName } from '../../domain/field.ts'
import { type Guid, EMPTY_GUID, parseGuid, parseGuidOrEmpty } from '../../domain/guid.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { sha1 } from '../../domain/sha1.ts'
import { type Cell, Misfit, isBlank, shownText } from './cell.ts'

/** The id of a row; the empty GUID is not one (contract §1.1). */
export function toId(cell: Cell): Guid | Misfit {
  return (typeof cell === 'string' ? parseGuid(cell) : null) ?? new Misfit('a GUID that is not all zeros', cell)
}

/** The id of an event's venue; a blank one, like the empty GUID, means that none is assigned yet. */
export function toVenueId(cell: Cell): Guid | Misfit {
  if (isBlank(cell)) return EMPTY_GUID
  return (typeof cell === 'string' ? parseGuidOrEmpty(cell) : null) ?? new Misfit('a GUID, or nothing', cell)
}

/** The id of a row whose CRM has other ids than GUIDs: that of its text in `namespace`, apart from other tables' ids. Blanks at its ends do not count. */
export function toNamedId(namespace: Guid, from: string): (cell: Cell) => Guid | Misfit {
  const idOf = namedIds(namespace, `${from}/`)
  return (cell) => {
    const text = isBlank(cell) ? null : shownText(cell)
    return text === null ? new Misfit('an id', cell) : idOf(trimWhiteSpace(text))
  }
}

/** So many venues are remembered; a list has far fewer than it has events. */
const MOST_VENUES = 10_000

/** As `toNamedId`, for the venue that an event names; a blank one means that none is assigned yet. */
export function toNamedVenueId(namespace: Guid, venuesFrom: string): (cell: Cell) => Guid | Misfit {
  const named = remembered(toNamedId(namespace, venuesFrom), MOST_VENUES)
  return (cell) => (isBlank(cell) ? EMPTY_GUID : named(cell))
}

/** The same, with the first ids that it was asked for remembered: a hash takes ten times as long. */
export function remembered(named: (cell: Cell) => Guid | Misfit, most: number): (cell: Cell) => Guid | Misfit {
  const places = new Map<Cell, number>()
  const known: { readonly cell: Cell; readonly id: Guid }[] = []
  let next = 0
  return (cell) => {
    // A list that is read again has its ids in the order it had: to look each of them up takes a third of the read.
    const at = known[next]?.cell === cell ? next : places.get(cell)
    const before = at === undefined ? undefined : known[at]
    if (before !== undefined && at !== undefined) {
      next = at + 1
      return before.id
    }
    const id = named(cell)
    if (!(id instanceof Misfit) && known.length < most) {
      places.set(cell, known.length)
      known.push({ cell, id })
      next = known.length
    }
    return id
  }
}

/** The name-based UUID of a name in a namespace (RFC 9562 §5.5), the same for ever. */
export function uuidV5(namespace: Guid, name: string): Guid {
  return namedIds(namespace, '')(name)
}

const SHORT = 1000

/** Gives the UUIDs of names that begin alike; done for each row, so nothing but the name is put together. */
function namedIds(namespace: Guid, beginning: string): (rest: string) => Guid {
  const head = Buffer.concat([Buffer.from(namespace.replaceAll('-', ''), 'hex'), Buffer.from(beginning)])
  // No character takes more than three bytes for each of its code units.
  const scratch = Buffer.alloc(head.length + SHORT * 3)
  head.copy(scratch)
  return (rest) => {
    const bytes =
      rest.length > SHORT
        ? Buffer.concat([head, Buffer.from(rest)])
        : scratch.subarray(0, head.length + scratch.write(rest, head.length))
    const digest = sha1(bytes)
    const variant = VARIANTS.charAt(Number.parseInt(digest.charAt(16), 16))
    const guid = parseGuid(
      `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`,
    )
    if (guid === null) throw new Error('a hash is not a GUID')
    return guid
  }
}

/** The digit with its upper two bits set to the variant's. */
const VARIANTS = '89ab89ab89ab89ab'

/** The ids that a record is known by here, for the CRM's own id: the event's, then the venue's. */
export type IdsOf = (crmId: string) => readonly Guid[]

/** Null where the CRM's ids are GUIDs, and so are known by themselves. */
export function idsOf(crm: CrmSettings): IdsOf | null {
  if (crm.kind === 'dataverse' || crm.idNamespace === null) return null
  const { idNamespace } = crm
  const tables =
    crm.kind === 'files'
      ? [fileNamed(crm.events.block, 'events'), fileNamed(crm.venues.block, 'venues')]
      : [crm.events.from, crm.venues.from]
  return (crmId) => tables.map((from) => uuidV5(idNamespace, `${from}/${trimWhiteSpace(crmId)}`))
}

/** What stands before an id of a list in files: the file as it is named, else the list. */
export function fileNamed(block: { readonly from: FileName | null } | null, list: ListName): string {
  return block?.from?.file ?? list
}
