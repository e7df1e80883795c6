import type { WebReply } from './web.ts'

const LONGEST_MS = 3_600_000

/** The wait that an answer asks for, in seconds or until a date (RFC 9110 §10.2.3), an hour at most; null where it asks for none. */
export function retryAfterMs({ headers }: WebReply, nowWallMs: number): number | null {
  const text = headers['retry-after']?.trim() ?? ''
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : untilMs(text, headers['date'], nowWallMs)
  return ms === null ? null : Math.min(Math.max(ms, 0), LONGEST_MS)
}

/** Its server's date is measured against the same server's clock, which may be hours from ours. */
function untilMs(text: string, date: string | undefined, nowWallMs: number): number | null {
  const until = parseHttpDate(text)
  return until === null ? null : until - (parseHttpDate(date ?? '') ?? nowWallMs)
}

/** A date in any form of RFC 9110 §5.6.7, all of which begin with a weekday and are in GMT, which one of them leaves out. */
function parseHttpDate(text: string): number | null {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(ms) ? null : ms
}
