import { Buffer } from 'node:buffer'
import { type Guid, parseGuid } from './guid.ts'
import { sha1 } from './sha1.ts'
import { trimWhiteSpace } from './white-space.ts'

/** Caches the first ids: computing the hash takes ten times as long. */
export function remembered<Name, NoId extends object | null>(
  idOf: (name: Name) => Guid | NoId,
  most: number,
): (name: Name) => Guid | NoId {
  const places = new Map<Name, number>()
  const known: { readonly name: Name; readonly id: Guid }[] = []
  let next = 0
  return (name) => {
    // A list has its ids in the same order at each read, so most need no look-up, which would take a third of the read.
    const at = known[next]?.name === name ? next : places.get(name)
    const before = at === undefined ? undefined : known[at]
    if (before !== undefined && at !== undefined) {
      next = at + 1
      return before.id
    }
    const id = idOf(name)
    if (typeof id === 'string' && known.length < most) {
      places.set(name, known.length)
      known.push({ name, id })
      next = known.length
    }
    return id
  }
}

const SHORT = 1000

/**
 * Derives the name-based UUIDs of names with a common beginning (RFC 9562 §5.5). It runs for each row, so it concatenates
 * only the rest.
 */
export function namedIds(namespace: Guid, beginning: string): (rest: string) => Guid {
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

/**
 * Returns a function that derives a UUID in `namespace` from the table and an id that is not a GUID. Leading and
 * trailing blanks are ignored.
 */
export function crmIds(namespace: Guid, from: string): (crmId: string) => Guid {
  const idOf = namedIds(namespace, `${from}/`)
  return (crmId) => idOf(trimWhiteSpace(crmId))
}

/** Each hexadecimal digit with its upper two bits set to the variant's. */
const VARIANTS = '89ab89ab89ab89ab'
