import { type Moment, elapsedMs } from '../../time/time.ts'
import type { ConnectorContext } from './crm-limits.ts'

const NOTED_WAIT_MS = 10_000

/**
 * Reports that a connector's requests wait because the CRM or its budget says so. A long wait is logged too, but only
 * once.
 * @param shown removes the connector's secrets from a text
 */
export function waitNotices(
  name: string,
  shown: (text: string) => string,
  { observe, time }: Pick<ConnectorContext, 'observe' | 'time'>,
): (forMs: number, why: string) => void {
  let noted: Moment | null = null
  return (forMs, why) => {
    const now = time.now()
    observe({ kind: 'crm-paused', why: shown(why), untilMs: now.wallMs + forMs })
    if (forMs < NOTED_WAIT_MS || (noted !== null && elapsedMs(noted, now) < NOTED_WAIT_MS)) return
    noted = now
    observe({ kind: 'crm-noticed', message: shown(`${name} waits for ${Math.ceil(forMs / 1000)} s: ${why}`) })
  }
}
