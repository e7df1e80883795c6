import { createHash } from 'node:crypto'
import type { Guid } from '../../domain/guid.ts'
import { parseGuid } from '../../domain/guid.ts'

/** The name-based UUID of a name in a namespace (RFC 9562 §5.5), the same for ever. */
export function uuidV5(namespace: Guid, name: string): Guid {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const guid = parseGuid(hash.toString('hex', 0, 16))
  if (guid === null) throw new Error('a hash is no GUID')
  return guid
}
