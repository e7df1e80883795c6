import { createHash, timingSafeEqual } from 'node:crypto'
import { canonicalHost, isLoopback } from '../domain/host.ts'

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1']
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d+)?$/i

/**
 * Returns true if a `Host` names this machine or the loopback address of the listener. Refuses names that an attacker's
 * DNS resolves to this machine (DNS rebinding).
 */
export function isLocalHost(host: string | undefined, listensOn: string): boolean {
  const [, bracketed, plain] = HOST.exec(host ?? '') ?? []
  const name = canonicalHost(bracketed ?? plain ?? '')
  return LOCAL_HOSTS.includes(name) || (isLoopback(listensOn) && name === listensOn)
}

/**
 * Returns true if an `Authorization` header has the token: as `Bearer`, or as the password of `Basic`, for browsers.
 * Takes the same time for every wrong token.
 */
export function holdsToken(authorization: string | undefined, token: string): boolean {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? []
  const given = scheme.toLowerCase() === 'basic' ? passwordOf(credentials) : credentials
  return timingSafeEqual(digest(given), digest(token))
}

/** Browsers understand only the first challenge of a header, so browsers get Basic and programs get Bearer. */
export function challengeFor(accept: string | undefined): string {
  return accept?.includes('text/html') === true ? 'Basic realm="Marquee operations", charset="UTF-8"' : 'Bearer'
}

/** Returns true if a POST comes from this listener's page or from no page. Browsers send `Origin`. */
export function isSameSite(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return true
  // The scheme is not compared, because a proxy in front may use TLS.
  return /^https?:\/\/(.+)$/.exec(origin)?.[1]?.toLowerCase() === host?.toLowerCase()
}

/** Returns the password: the user name ends at the first colon (RFC 7617 §2). */
function passwordOf(credentials: string): string {
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

/** Returns a digest. Its fixed length hides the token's length from timing. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
