import type { CrmSettings } from '../../config/configuration.ts'
import type { Expected } from '../../domain/expected.ts'
import { type Guid, EMPTY_GUID, parseGuid, parseGuidOrEmpty } from '../../domain/guid.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { sha1 } from '../../domain/sha1.ts'
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

/**
 * Returns a function that derives a UUID in `namespace` from the table and an id that is not a GUID. Leading and
 * trailing blanks are ignored.
 */
export function toNamedId(namespace: Guid, from: string): (cell: Cell) => Guid | CellFault {
  const idOf = namedIds(namespace, `${from}/`)
  return (cell) => {
    const text = isBlank(cell) ? null : shownText(cell)
    return text === null ? new CellFault(ID, cell) : idOf(trimWhiteSpace(text))
  }
}

/** The number of venue ids cached. */
const MOST_VENUES = 10_000

/** As `toNamedId`, for an event's venue. A blank cell means that no venue is assigned yet. */
export function toNamedVenueId(namespace: Guid, venuesFrom: string): (cell: Cell) => Guid | CellFault {
  const named = remembered(toNamedId(namespace, venuesFrom), MOST_VENUES)
  return (cell) => (isBlank(cell) ? EMPTY_GUID : named(cell))
}

/** Caches the first ids: computing the hash takes ten times as long. */
export function remembered(named: (cell: Cell) => Guid | CellFault, most: number): (cell: Cell) => Guid | CellFault {
  const places = new Map<Cell, number>()
  const known: { readonly cell: Cell; readonly id: Guid }[] = []
  let next = 0
  return (cell) => {
    // A list has its ids in the same order at each read, so most need no look-up, which would take a third of the read.
    const at = known[next]?.cell === cell ? next : places.get(cell)
    const before = at === undefined ? undefined : known[at]
    if (before !== undefined && at !== undefined) {
      next = at + 1
      return before.id
    }
    const id = named(cell)
    if (!(id instanceof CellFault) && known.length < most) {
      places.set(cell, known.length)
      known.push({ cell, id })
      next = known.length
    }
    return id
  }
}

/** Returns the name-based UUID of a name in a namespace (RFC 9562 §5.5). */
export function uuidV5(namespace: Guid, name: string): Guid {
  return namedIds(namespace, '')(name)
}

const SHORT = 1000

/** Derives the UUIDs of names with a common beginning. It runs for each row, so it concatenates only the rest. */
function namedIds(namespace: Guid, beginning: string): (rest: string) => Guid {
  const head = Buffer.concat([Buffer.from(namespace.replaceAll('-', ''), 'hex'), Buffer.from(beginning)])
  // UTF-8 takes at most three bytes per UTF-16 code unit.
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

/** Each hexadecimal digit with its upper two bits set to the variant's. */
const VARIANTS = '89ab89ab89ab89ab'

/** The ids that a record with this CRM id has in Marquee: as an event, then as a venue. */
export type IdsOf = (crmId: string) => readonly Guid[]

/** Returns the conversion from CRM ids; `null` if they are GUIDs and stay unchanged. */
export function idsOf(crm: CrmSettings): IdsOf | null {
  const names = crm.idNames()
  if (names === null || !('idNamespace' in crm) || crm.idNamespace === null) return null
  const { idNamespace } = crm
  return (crmId) => names.map((from) => uuidV5(idNamespace, `${from}/${trimWhiteSpace(crmId)}`))
}
