import { createHash } from 'node:crypto'
import { unreachable } from '../domain/unreachable.ts'
import type { Configuration, CrmSettings } from './configuration.ts'
import { parsePostgresUrl } from './postgres-address.ts'

/**
 * Which records a configuration makes, as 12 hexadecimal digits: where it is another one, or one of the numbers is, what was kept
 * of them is of no use. What records look like to callers, credentials and limits are no part of it.
 */
export function dataFingerprintOf(
  { crm, timeZone }: Pick<Configuration, 'crm' | 'timeZone'>,
  numbers: readonly number[],
): string {
  const shaping = canonical([...numbers, timeZone, shapingOf(crm)])
  return createHash('sha256').update(shaping).digest('hex').slice(0, 12)
}

/** What shapes a record: where it is read, and how its fields are found. Not who reads it, nor how often. */
function shapingOf(crm: CrmSettings): unknown {
  switch (crm.kind) {
    case 'files': {
      const { kind, directory, idNamespace, events, venues, timeZone } = crm
      return { kind, directory, idNamespace, events, venues, timeZone }
    }
    case 'dataverse': {
      const { kind, url, labels, events, venues, timeZone } = crm
      return { kind, url, labels, events, venues, timeZone }
    }
    case 'postgres': {
      const { kind, url, idNamespace, events, venues, timeZone } = crm
      const address = parsePostgresUrl(url.reveal())
      const { host, port, database } = typeof address === 'string' ? { host: '', port: 0, database: '' } : address
      return { kind, host, port, database, idNamespace, events, venues, timeZone }
    }
    default:
      return unreachable(crm)
  }
}

/** JSON with the keys of each object in one order: how a file is arranged makes no other records. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
  })
}
