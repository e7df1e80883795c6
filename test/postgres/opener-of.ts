import { parsePostgresUrl } from '../../src/config/crm/postgres.ts'
import { PLENTY } from '../../src/crm/kit/crm-limits.ts'
import { Opener } from '../../src/crm/postgres/connection.ts'
import type { Secret } from '../../src/domain/secret.ts'
import { systemTime } from '../../src/time/time.ts'

/** Opens connections to the database of a URL. */
export function openerOf(url: Secret, { ca = null as string | null, requestTimeoutMs = 5000 } = {}): Opener {
  const absolute = (path: string): string => path
  const limits = (): { requestTimeoutMs: number } => ({ requestTimeoutMs })
  return new Opener({ url, addressIn: parsePostgresUrl, ca, absolute, limits, time: systemTime, descriptors: PLENTY })
}
