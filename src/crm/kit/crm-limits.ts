// What all connectors share. In: the limits and surroundings of the process. Out: what a connector may use, and for how
// long it may take.

import type { Zone } from '../../domain/zone.ts'
import type { Observe } from '../../observe/observation.ts'
import type { Time } from '../../time/time.ts'
import type { Descriptors } from './file-descriptors.ts'
import type { ListSuspicions } from '../mapping/suspicions.ts'

/** What a reload may change: looked up for each exchange, never kept. */
export interface CrmLimits {
  /** The longest one exchange with the CRM may take, where its own settings say nothing else. */
  readonly requestTimeoutMs: number
  readonly maxAgeMs: number
  /** What a list may hold, and a workbook once it is unpacked; where nobody says it, 2 GB. */
  readonly memoryBytes?: number
}

/** What every connector has of the world. */
export interface ConnectorSurroundings {
  /** What Start and Finish are shown in. */
  readonly showIn: Zone
  readonly limits: CrmLimits
  readonly time: Time
  readonly observe: Observe
  readonly descriptors?: Descriptors
  /** Where what is suspicious in the rows is noted. */
  readonly suspicions?: ListSuspicions
}

/** The limits of a CRM whose own settings may name its timeout. */
export function limitsOf(
  { requestTimeoutMs }: { readonly requestTimeoutMs: number | null },
  limits: CrmLimits,
): CrmLimits {
  if (requestTimeoutMs === null) return limits
  return {
    requestTimeoutMs,
    get maxAgeMs() {
      return limits.maxAgeMs
    },
  }
}

/** How long a page may take: an exchange is tried once more on a fresh connection before it is given up. */
export function patienceOf({ requestTimeoutMs }: Pick<CrmLimits, 'requestTimeoutMs'>): number {
  return requestTimeoutMs * 2 + 1000
}
