/** Returns the code of an error of the system, the resolver or a library: `ECONNREFUSED`. `null` if it has none. */
export function codeOf(cause: unknown): string | null {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : null
}

/** Returns why a host was not reached, to follow the host's name in a sentence; `null` for other error codes. */
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
