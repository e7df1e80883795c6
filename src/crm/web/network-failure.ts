import type { CrmFailure } from '../../replica/port.ts'

const WORDS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'is a name that cannot be resolved'],
  ['EAI_AGAIN', 'could not be resolved: the name server did not answer'],
  ['ECONNREFUSED', 'refused the connection'],
  ['ECONNRESET', 'dropped the connection'],
  ['EPIPE', 'dropped the connection'],
  ['ETIMEDOUT', 'did not answer the connection'],
  ['EHOSTUNREACH', 'is not reachable from here'],
  ['ENETUNREACH', 'is not reachable from here'],
  ['ERR_PROXY_TUNNEL', 'was not reached: the proxy refused'],
  ['ERR_PROXY_INVALID_CONFIG', 'was not reached: the proxy is no URL that can be used'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'has a certificate of another name'],
  ['CERT_HAS_EXPIRED', 'has a certificate that has expired'],
])

const UNTRUSTED = 'has a certificate that is not trusted here; name the authority that signed it in crm.ca'

const UNTRUSTED_CODES: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

const ANOTHER_TRY_IS_VAIN: ReadonlySet<string> = new Set([
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'ERR_PROXY_INVALID_CONFIG',
  ...UNTRUSTED_CODES,
])

/**
 * Why no answer came, told by the error's code alone: its message may quote the URL of a proxy with its password.
 * `isCertain`: the same request would fail again.
 */
export function networkFailure(
  cause: unknown,
  host: string,
  timeoutMs: number | null,
): CrmFailure & { readonly isCertain: boolean } {
  if (timeoutMs !== null) {
    const message = `${host} did not answer in full within ${timeoutMs / 1000} s`
    return { kind: 'timeout', message, retryAfterMs: null, isCertain: false }
  }
  const code =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'unknown reason'
  if (code.startsWith('ERR_CA_') || code.startsWith('ERR_OSSL')) {
    const why = code === 'ERR_CA_UNREADABLE' ? 'cannot be read' : 'holds no certificates in PEM'
    return { kind: 'misconfigured', message: `the file of crm.ca ${why}`, retryAfterMs: null, isCertain: true }
  }
  if (code === 'ERR_BODY_TOO_LARGE') {
    const message = `the answer of ${host} is larger than any may be`
    return { kind: 'too-large', message, retryAfterMs: null, isCertain: true }
  }
  if (code.startsWith('Z_')) {
    const message = `the answer of ${host} cannot be unpacked`
    return { kind: 'broken', message, retryAfterMs: null, isCertain: true }
  }
  if (code.startsWith('HPE_')) {
    const message = `${host} answered with something that is not HTTP as it should be (${code})`
    return { kind: 'broken', message, retryAfterMs: null, isCertain: false }
  }
  const words = UNTRUSTED_CODES.has(code) ? UNTRUSTED : (WORDS.get(code) ?? 'could not be asked')
  const message = `${host} ${words} (${code})`
  return { kind: 'unreachable', message, retryAfterMs: null, isCertain: ANOTHER_TRY_IS_VAIN.has(code) }
}
