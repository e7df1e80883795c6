import { createHash } from 'node:crypto'
import { unreachable } from '../domain/unreachable.ts'
import type { Configuration, CrmSettings } from './configuration.ts'
import type { FileName, WebFile } from './crm/list-from.ts'
import { parsePostgresUrl } from './postgres-address.ts'

/**
 * Identifies the records that a configuration makes, as 12 hexadecimal digits. If it or one of the numbers changes,
 * stored records are not used. Of the representation only further fields count; credentials and limits do not.
 */
export function dataFingerprintOf(
  { crm, timeZone, representation: { further } }: Pick<Configuration, 'crm' | 'timeZone' | 'representation'>,
  numbers: readonly number[],
): string {
  // Left out if there are none, so that the records of earlier releases are still used.
  const declared = further.events.length + further.venues.length === 0 ? [] : [further]
  const shaping = canonical([...numbers, timeZone, shapingOf(crm), ...declared])
  return createHash('sha256').update(shaping).digest('hex').slice(0, 12)
}

/** The settings that shape records: where they are read, and how fields are found. */
function shapingOf(crm: CrmSettings): unknown {
  switch (crm.kind) {
    case 'files': {
      const { kind, directory, idNamespace, events, venues, timeZone } = crm
      const urls = [placeOf(events.block?.from), placeOf(venues.block?.from)].filter((place) => place !== null)
      return { kind, directory, idNamespace, events, venues, timeZone, ...(urls.length === 0 ? {} : { urls }) }
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
    case 'odoo': {
      const { kind, url, database, idNamespace, events, venues, timeZone } = crm
      return { kind, url, database, idNamespace, events, venues, timeZone }
    }
    case 'salesforce':
    case 'civicrm': {
      const { kind, url, idNamespace, events, venues, timeZone } = crm
      return { kind, url, idNamespace, events, venues, timeZone }
    }
    case 'http': {
      const { kind, url, idNamespace, events, venues, timeZone } = crm
      return { kind, url, idNamespace, events, venues, timeZone }
    }
    case 'module': {
      const { kind, path, settings, idNamespace, events, venues, timeZone } = crm
      return { kind, sha256: path.sha256, settings, idNamespace, events, venues, timeZone }
    }
    case 'command': {
      const { kind, run, settings, idNamespace, events, venues, timeZone } = crm
      const digests = run.files.map(({ sha256 }) => sha256)
      return { kind, words: run.words, digests, settings, idNamespace, events, venues, timeZone }
    }
    default:
      return unreachable(crm)
  }
}

/** The place of a file on a web server; `null` if the file is elsewhere. The query may be a signature, which changes. */
function placeOf(from: FileName | WebFile | null | undefined): string | null {
  if (from === null || from === undefined || !('url' in from)) return null
  const { origin, pathname } = new URL(from.url.reveal())
  return `${origin}${pathname}`
}

/** JSON with sorted keys, because the order of keys in a file makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
  })
}
