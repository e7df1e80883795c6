/** Returns the code of an error of the system, the resolver or a library: `ECONNREFUSED`. `null` if it has none. */
export function codeOf(cause: unknown): string | null {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : null
}

/** Returns why a host was not reached, to follow the host's name in a sentence; `null` for other error codes. */
export function whyNotReached(code: string): string | null {
  return REASONS.get(code) ?? null
}

const NO_TLS = 'did not agree on TLS: make sure that this port uses it'

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'is a name that cannot be resolved'],
  ['EAI_AGAIN', 'could not be resolved: the name server did not answer'],
  ['ECONNREFUSED', 'refused the connection'],
  ['ECONNRESET', 'dropped the connection'],
  ['EPIPE', 'dropped the connection'],
  ['ETIMEDOUT', 'did not answer an attempt to connect'],
  ['EHOSTUNREACH', 'is not reachable from here'],
  ['ENETUNREACH', 'is not reachable from here'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['EPROTO', NO_TLS],
])

/**
 * Returns what is wrong with the certificate of a server and what to do, to follow "the certificate"; `null` for other
 * error codes.
 *
 * @param ca the key that names the trusted certificates
 */
export function whyNotAccepted(code: string, ca: string): string | null {
  const known = CERTIFICATE_FAULTS.get(code)
  if (known !== undefined) return known
  return /CERT|SELF_SIGNED|ISSUER|SIGNATURE/.test(code)
    ? `is not trusted here: name the certificate of the authority that signed it in ${ca}`
    : null
}

const CERTIFICATE_FAULTS: ReadonlyMap<string, string> = new Map([
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another host: use a host name that it contains'],
  ['CERT_HAS_EXPIRED', 'has expired: renew it on the server'],
  ['CERT_NOT_YET_VALID', 'is not valid yet: compare the clocks of both machines'],
])
