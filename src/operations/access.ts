import { createHash, timingSafeEqual } from 'node:crypto'
import { canonicalHost, isLoopback } from '../config/addresses.ts'

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1']
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d+)?$/i

/** Whether a `Host` is this machine's own, or the loopback address that is listened on: a name that an attacker's DNS points here is not (DNS rebinding). */
export function isLocalHost(host: string | undefined, listensOn: string): boolean {
  const [, bracketed, plain] = HOST.exec(host ?? '') ?? []
  const name = canonicalHost(bracketed ?? plain ?? '')
  return LOCAL_HOSTS.includes(name) || (isLoopback(listensOn) && name === listensOn)
}

/**
 * Whether an `Authorization` header carries the token: as `Bearer`, or as the password of `Basic`, which is how a browser
 * can send it. Takes the same time for any wrong one.
 */
export function holdsToken(authorization: string | undefined, token: string): boolean {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? []
  const given = scheme.toLowerCase() === 'basic' ? passwordOf(credentials) : credentials
  return timingSafeEqual(digest(given), digest(token))
}

/** Of two challenges in one header browsers understand only the first: a person is asked by Basic, a program by Bearer. */
export function challengeFor(accept: string | undefined): string {
  return accept?.includes('text/html') === true ? 'Basic realm="Marquee operations", charset="UTF-8"' : 'Bearer'
}

/** Whether a POST comes from this listener's own page, or from no page at all: browsers send their `Origin` along. */
export function isSameSite(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return true
  // The scheme is left out: a proxy in front may speak TLS.
  return /^https?:\/\/(.+)$/.exec(origin)?.[1]?.toLowerCase() === host?.toLowerCase()
}

/** RFC 7617 §2: the user's name ends at the first colon. */
function passwordOf(credentials: string): string {
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

/** Of one length whatever is given: not even the token's length shows in the time it takes. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
