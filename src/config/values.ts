import { resolve } from 'node:path'
import { type Guid, parseGuid } from '../domain/guid.ts'
import { type Zone, openZone } from '../domain/zone.ts'
import { ZONE_NAMES } from '../domain/zone-data.ts'
import { type Key, type Scalar, type ValueSchema, leaf, REFERENCE, scalarOf, wholeKey, ValueProblem } from './key.ts'
import { nearestName } from '../domain/nearest-name.ts'
import { Secret, IN_THE_FILE } from '../domain/secret.ts'
import { isIP } from 'node:net'
import { canonicalHost } from '../domain/host.ts'

/** A text that matches the pattern. Numbers and booleans must be quoted, for example '007' and 'on'. */
export function text(allowed: string, pattern: RegExp, accepts: (text: string) => boolean = () => true): Key<string> {
  return leaf(allowed, textSchema(pattern), ({ value }) => {
    if (typeof value !== 'string') return new ValueProblem(`must be ${allowed}, in quotes`)
    return pattern.test(value) && accepts(value) ? value : null
  })
}

/** The schema of a text that matches the pattern. JSON Schema has no flags, so the pattern may only have `u`. */
export function textSchema(pattern: RegExp): ValueSchema {
  return { type: 'string', pattern: pattern.source }
}

/** A valid name of a file, a column or a table. */
export const NAME = /^[^\u0000]+$/

export function isName(name: string): boolean {
  return NAME.test(name)
}

/** A path, resolved against the configuration file's directory. */
export function path(allowed: string): Key<string> {
  return text(allowed, NAME).map((relative, { inFile }) => resolve(inFile.folder, relative))
}

/** One fixed word, which identifies a section's kind. */
export function word<const Word extends string>(expected: Word): Key<Word> {
  return leaf(expected, { const: expected }, ({ value }) => (String(value).trim() === expected ? expected : null))
}

/** A secret, which must not be written in the file itself. */
export function secretText(allowed: string, accepts: (text: string) => boolean): Key<Secret> {
  return wholeKey(`${allowed}, given as { env: NAME } or { file: PATH }`, REFERENCE, (node) => {
    const scalar = scalarOf(node)
    if (scalar === null) return null
    const { reference } = scalar
    if (reference === null) {
      return new ValueProblem('must not be written in the file; give { env: NAME } or { file: PATH }', true)
    }
    return accepts(reference.text) ? new Secret(reference.text, reference) : null
  })
}

const UUID = /^\s*(?=.*[1-9A-Fa-f])[{(]?[0-9A-Fa-f]{8}-?(?:[0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}[)}]?\s*$/

export function guid(): Key<Guid> {
  return leaf('a UUID that is not all zeros', textSchema(UUID), ({ value }) =>
    typeof value === 'string' ? parseGuid(value) : null,
  )
}

const ZONE = 'an IANA time zone such as UTC or Europe/London'

export function timeZone(): Key<Zone> {
  return leaf(ZONE, textSchema(/^\s*[A-Za-z][\w+/-]*\s*$/), ({ value, reference }) => {
    if (typeof value !== 'string') return null
    const zone = openZone(value.trim())
    if (zone !== null) return zone
    // A referenced value is never shown, and neither is a name close to it.
    const near = reference === null ? nearestZone(value.trim()) : null
    return near === null ? null : new ValueProblem(`must be ${ZONE}; did you mean ${near}?`)
  })
}

/** The zone whose city is given, else the one with the nearest name. */
function nearestZone(spelling: string): string | null {
  const city = `/${spelling.toLowerCase().replaceAll(/[\s-]+/g, '_')}`
  return ZONE_NAMES.find((name) => name.toLowerCase().endsWith(city)) ?? nearestName(spelling, ZONE_NAMES)
}

/** A whole number within limits. References only yield text, so their digits are parsed. */
export function wholeNumber(least: number, most: number): Key<number> {
  const allowed = `a whole number from ${least} to ${most}`
  return leaf(allowed, { type: 'integer', minimum: least, maximum: most }, ({ value, reference }) => {
    if (typeof value === 'string' && reference === null && isDigits(value)) {
      return new ValueProblem(`must be ${allowed}, without quotes`)
    }
    const number = typeof value === 'string' && isDigits(value) ? Number(value) : value
    return typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most ? number : null
  })
}

function isDigits(written: string): boolean {
  return /^\d{1,15}$/.test(written.trim())
}

// The usual spellings come first, because editors propose them.
const FLAG: ValueSchema = {
  anyOf: [
    { enum: ['on', 'off', true, false] },
    textSchema(/^\s*(?:[Oo][Nn]|[Oo][Ff][Ff]|[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])\s*$/),
  ],
}

export function flag(): Key<boolean> {
  return leaf('on, off, true or false', FLAG, flagIn)
}

/** Parses a switch; `null` if it is invalid. YAML 1.2 treats `on` and `off` as text, so both forms are parsed here. */
function flagIn({ value }: Scalar): boolean | null {
  const written = String(value).trim().toLowerCase()
  if (written === 'on' || written === 'true') return true
  return written === 'off' || written === 'false' ? false : null
}

const TIMES: ReadonlyMap<string, number> = new Map(Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 }))

/** The longest duration, 24 days: a longer timer would fire at once, because timers take at most 2³¹-1 ms. */
const LONGEST_MS = 576 * 3_600_000

const POSITIVE = /^\s*(?=0*[1-9])\d{1,15} ?(?:ms|s|m|h)\s*$/
const DURATION: ValueSchema = { anyOf: [textSchema(/^\s*(?:0+|\d{1,15} ?(?:ms|s|m|h))\s*$/), { const: 0 }] }

/** A duration with a unit, in milliseconds. */
export function duration({ leastMs = 0 }: { leastMs?: number } = {}): Key<number, 'Ms'> {
  const least = leastMs === 0 ? '' : `, at least ${leastMs % 1000 === 0 ? `${leastMs / 1000}s` : `${leastMs}ms`}`
  const schema = leastMs === 0 ? DURATION : textSchema(POSITIVE)
  const key = leaf(`a duration such as 500ms, 30s, 15m or 2h${least}`, schema, ({ value }) => {
    const ms = millisecondsOf(value, leastMs)
    return typeof ms === 'number' && ms < leastMs ? null : ms
  })
  return key.in('Ms')
}

/** A duration in milliseconds; `null` for `off`. */
export function durationOrOff(example: string): Key<number | null, 'Ms'> {
  const off = { anyOf: [{ enum: ['off', false] }, textSchema(/^\s*(?:[Oo][Ff][Ff]|[Ff][Aa][Ll][Ss][Ee])\s*$/)] }
  const schema = { anyOf: [DURATION, off] }
  const key = leaf<number | 'off'>(`a duration such as ${example}, or off`, schema, (scalar) =>
    flagIn(scalar) === false ? 'off' : millisecondsOf(scalar.value),
  )
  return key.map((value) => (value === 'off' ? null : value)).in('Ms')
}

/** Parses a duration; `null` if the text is not one. */
function millisecondsOf(value: string | number | boolean, leastMs = 0): number | ValueProblem | null {
  const isZero = typeof value === 'string' ? /^0+$/.test(value.trim()) : value === 0
  const ms = isZero ? 0 : typeof value === 'string' ? amountOf(value, TIMES) : null
  if (ms === null)
    return needsUnit(
      value,
      [...TIMES.keys()].filter((unit) => Number(value) * (TIMES.get(unit) ?? 0) >= leastMs),
    )
  return ms > LONGEST_MS ? new ValueProblem('must be at most 576h (24 days)') : ms
}

const SIZES: ReadonlyMap<string, number> = new Map(
  Object.entries({ B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30, TIB: 2 ** 40 }),
)

const SIZE = textSchema(/^\s*(?=0*[1-9])\d{1,15} ?(?:[KMGTkmgt][Ii]?)?[Bb]\s*$/)

/** A size with a unit, in bytes: `2GB` is 2·10⁹, `2GiB` is 2³¹. */
export function size(): Key<number, 'Bytes'> {
  return leaf('a size such as 512MB, 2GB or 2GiB, at least 1KB', SIZE, ({ value }) => bytesOf(value, 1000)).in('Bytes')
}

/** A size in bytes; `null` for `auto`. */
export function sizeOrAuto(): Key<number | null, 'Bytes'> {
  const schema = { anyOf: [{ const: 'auto' }, SIZE, textSchema(/^\s*[Aa][Uu][Tt][Oo]\s*$/)] }
  const key = leaf<number | 'auto'>('auto, or a size such as 256MB or 2GB, at least 1MB', schema, ({ value }) =>
    String(value).trim().toLowerCase() === 'auto' ? 'auto' : bytesOf(value, 1e6),
  )
  return key.map((value) => (value === 'auto' ? null : value)).in('Bytes')
}

/** Parses a size; `null` if the text is not one, or is too small. */
function bytesOf(value: string | number | boolean, leastBytes: number): number | ValueProblem | null {
  const bytes = typeof value === 'string' ? amountOf(value.toUpperCase(), SIZES) : null
  if (bytes === null) return needsUnit(value, ['MB', 'GB'])
  return bytes >= leastBytes && Number.isSafeInteger(bytes) ? bytes : null
}

/**
 * Converts an amount such as `500ms` or `2 GIB` to the smallest unit; `null` if it is not a number with one of these
 * units.
 */
function amountOf(written: string, units: ReadonlyMap<string, number>): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,15}) ?([A-Za-z]{1,3})$/.exec(written.trim()) ?? []
  const factor = units.get(unit)
  return factor === undefined ? null : Number(digits) * factor
}

/** Says which units a plain number could have; `null` for anything else. */
function needsUnit(value: unknown, units: readonly string[]): ValueProblem | null {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0) return null
  const written = units.map((unit) => `${value}${unit}`)
  return new ValueProblem(`needs a unit: ${written.slice(0, -1).join(', ')} or ${written.at(-1)}`)
}

const HOST =
  /^(?:\[.*\]|(?=.*:.*:)[0-9A-Fa-f:.]+(?:%\S+)?|(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}|(?![\d.]+$)\w(?:[\w-]*\w)?(?:\.\w(?:[\w-]*\w)?)*)$/

/** An address to listen on. Brackets around an IPv6 address are removed. */
export function host(): Key<string> {
  const allowed = 'an IP address or a host name such as 127.0.0.1, 0.0.0.0, ::1 or localhost, without a port'
  return leaf(allowed, textSchema(HOST), ({ value }) => {
    if (typeof value !== 'string' || value.length > 253 || !HOST.test(value)) return null
    const bare = value.replace(/^\[(.*)\]$/, '$1')
    const isAddress = bare !== value || bare.includes(':')
    return isAddress && isIP(bare) === 0 ? null : canonicalHost(bare)
  })
}

/** Returns true if two listeners with the same port would conflict. */
export function sharesAddress(left: string, right: string): boolean {
  const both = [left, right]
  const isOnAll = both.some((address) => address === '0.0.0.0' || address === '::')
  return left === right || isOnAll || both.every((address) => address === 'localhost' || address === '127.0.0.1')
}

const BASE_PATH = /^(?=\/)(?:\/(?!(?:\.|%2[Ee]){1,2}(?:\/|$))(?:[^/?#\\\p{Cc}%]|%[0-9A-Fa-f]{2})+)*\/?$/u

const PATH = 'a path such as / or /events-service'
const PATH_PARTS =
  'without ? and #, backslashes, empty parts (//) and the parts . and .., with two hex digits after each %, at most 1000 characters'

/** A base path, normalized as browsers do (contract §1): `/`, or `/a/b` without a trailing slash. */
export function basePath(): Key<string> {
  return leaf(PATH, { ...textSchema(BASE_PATH), maxLength: 1000 }, ({ value }) => {
    if (typeof value !== 'string') return null
    if (!BASE_PATH.test(value) || value.length > 1000) return new ValueProblem(`must be ${PATH}, ${PATH_PARTS}`)
    const { pathname } = new URL(`http://localhost${value.replace(/\/$/, '')}`)
    return pathname.replaceAll(' ', '%20')
  })
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

/** A path of names in a JSON value. */
export const jsonPath: Key<string> = text('a path such as data.items', /^[^\s.]+(?:\.[^\s.]+)*$/)
