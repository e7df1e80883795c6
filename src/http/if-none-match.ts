/** Whether `If-None-Match` names this strong tag, or any: weak comparison (RFC 9110 §13.1.2). */
export function matchesNone(header: string, etag: string): boolean {
  if (header.trim() === '*') return true
  // Entity tags may hold commas, so they are matched whole, never split.
  for (const [, tag] of header.matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)) if (tag === etag) return true
  return false
}
