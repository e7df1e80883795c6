import type { ConnectorContext } from './crm-limits.ts'

const NOTED_WAIT_MS = 10_000

/**
 * Reports that a connector's requests wait because the CRM or its budget says so. A long wait is logged too, but not
 * again unless it becomes longer.
 * @param shown removes the connector's secrets from a text
 */
export function waitNotices(
  name: string,
  shown: (text: string) => string,
  { observe, time }: Pick<ConnectorContext, 'observe' | 'time'>,
): (forMs: number, why: string) => void {
  let notedUntilMs = -Infinity
  return (forMs, why) => {
    const { monotonicMs, wallMs } = time.now()
    observe({ kind: 'crm-paused', why: shown(why), untilMs: wallMs + forMs })
    const untilMs = monotonicMs + forMs
    // Several requests may wait for the same reason, and not until the same millisecond.
    if (forMs < NOTED_WAIT_MS || untilMs < notedUntilMs + NOTED_WAIT_MS) return
    notedUntilMs = untilMs
    observe({ kind: 'crm-noticed', message: shown(`${name} waits for ${Math.ceil(forMs / 1000)} s: ${why}`) })
  }
}
