const LONGEST_MS = 3_600_000

/** The wait that a `Retry-After` asks for, in seconds or until a date (RFC 9110 §10.2.3), an hour at most; null where it asks for none. */
export function retryAfterMs(header: string | undefined, nowWallMs: number): number | null {
  if (header === undefined) return null
  const text = header.trim()
  const ms = /^\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowWallMs
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_MS)
}
