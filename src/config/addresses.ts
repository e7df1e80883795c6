import { isIP } from 'node:net'
import { canonicalHost } from '../domain/host.ts'
import { type Key, leaf, ValueProblem } from './key.ts'
import { IN_THE_FILE, Secret } from '../domain/secret.ts'
import { textSchema } from './values.ts'

/** An address to listen on. Brackets around an IPv6 address are removed. */
export function host(): Key<string> {
  return leaf(
    'an IP address or a host name such as 127.0.0.1, 0.0.0.0, ::1 or localhost, without a port',
    textSchema(
      /^(?:\[.*\]|(?=.*:.*:)[0-9A-Fa-f:.]+(?:%\S+)?|(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}|(?![\d.]+$)[\w-]+(?:\.[\w-]+)*)$/,
    ),
    ({ value }) => {
      if (typeof value !== 'string') return null
      const bare = /^\[.*\]$/.test(value) ? value.slice(1, -1) : value
      return isIP(bare) !== 0 || isHostName(value) ? canonicalHost(bare) : null
    },
  )
}

function isHostName(text: string): boolean {
  // Digits and dots alone are an invalid IP address, never a name (RFC 1123 §2.1).
  return (
    text.length <= 253 &&
    /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/i.test(text) &&
    !/^[\d.]+$/.test(text)
  )
}

/** Returns true if two listeners with the same port would conflict. */
export function sharesAddress(left: string, right: string): boolean {
  return left === right || isWildcard(left) || isWildcard(right) || (isLocal(left) && isLocal(right))
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

function isLocal(address: string): boolean {
  return address === 'localhost' || address === '127.0.0.1'
}

const BASE_PATH = /^(?=\/)(?:\/(?!(?:\.|%2[Ee]){1,2}(?:\/|$))(?:[^/?#\\\p{Cc}%]|%[0-9A-Fa-f]{2})+)*\/?$/u

/** A base path, normalized as browsers do (contract §1): `/`, or `/a/b` without a trailing slash. */
export function basePath(): Key<string> {
  return leaf('a path such as / or /events-service', { ...textSchema(BASE_PATH), maxLength: 1000 }, ({ value }) => {
    if (typeof value !== 'string') return null
    if (!value.startsWith('/')) return new ValueProblem('must begin with /, such as / or /events-service')
    if (/[?#]/.test(value)) return new ValueProblem('must be a path alone, without ? or #')
    if (/[\\\p{Cc}]/u.test(value)) return new ValueProblem('must not contain backslashes or control characters')
    if (/%(?![0-9A-Fa-f]{2})/.test(value)) return new ValueProblem('must have two hex digits after each %')
    if (value.length > 1000) return new ValueProblem('must be at most 1000 characters')
    const segments = value.replace(/\/$/, '').split('/').slice(1)
    if (segments.includes('')) return new ValueProblem('must not contain an empty part (//)')
    if (segments.some(isDots)) return new ValueProblem('must not contain the parts . or ..')
    return segments.length === 0 ? '/' : pathname(segments)
  })
}

function isDots(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment)
}

function pathname(segments: readonly string[]): string | ValueProblem {
  const url = URL.parse(`http://localhost/${segments.join('/')}`)
  return url === null ? new ValueProblem('must be a valid URL path') : url.pathname.replaceAll(' ', '%20')
}

const WEB_URL = /^\s*[Hh][Tt][Tt][Pp][Ss]?:[^@]+$/

/** The origin of a web server: `scheme://host:port` without a path. */
export function webOrigin(example: string): Key<string> {
  const allowed = `a URL without a path, such as ${example}`
  return leaf(allowed, textSchema(WEB_URL), ({ value }) => {
    if (typeof value !== 'string') return null
    const url = URL.parse(value.trim())
    if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
    if (url.username !== '' || url.password !== '')
      return new ValueProblem(`must be ${allowed}, and without a user`, true)
    return url.pathname === '/' && url.search === '' && url.hash === '' ? url.origin : null
  })
}

const PROXY_URL = /^\s*[Hh][Tt][Tt][Pp][Ss]?:(?!.*:[^/@]+@)/

/** The URL of a forward proxy. It is a secret, because it may contain a password. */
export function proxyUrl(): Key<Secret> {
  return leaf('a URL such as http://proxy.example:3128', textSchema(PROXY_URL), ({ value, reference }) => {
    const url = typeof value === 'string' ? URL.parse(value.trim()) : null
    if (typeof value !== 'string' || url === null || url.hostname === '') return null
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return null
    return new Secret(value.trim(), reference ?? IN_THE_FILE)
  })
}
