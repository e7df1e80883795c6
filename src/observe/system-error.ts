/** The code of an error of the system, the resolver or a library, such as `ECONNREFUSED`; null where it has none. */
export function codeOf(cause: unknown): string | null {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : null
}

/** Why a host was not reached, by the code of the error: the rest of a sentence that begins with the host; null for other codes. */
export function whyNotReached(code: string): string | null {
  return REASONS.get(code) ?? null
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'is a name that cannot be resolved'],
  ['EAI_AGAIN', 'could not be resolved: the name server did not answer'],
  ['ECONNREFUSED', 'refused the connection'],
  ['ECONNRESET', 'dropped the connection'],
  ['EPIPE', 'dropped the connection'],
  ['ETIMEDOUT', 'did not answer the connection'],
  ['EHOSTUNREACH', 'is not reachable from here'],
  ['ENETUNREACH', 'is not reachable from here'],
])
