import { EVENT, NEVER, VENUE } from '../contract/rows.ts'
import type { Chance } from '../model/chance.ts'

const METHODS = [
  'GET',
  'GET',
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'DELETE',
  'TRACE',
  'CONNECT',
  'QUERY',
  'get',
  'X',
]
const IDS = [
  EVENT,
  VENUE,
  NEVER,
  EVENT.toUpperCase(),
  `{${EVENT}}`,
  `(${VENUE})`,
  'null',
  '',
  EVENT.replaceAll('-', ''),
]
const PARTS = [
  'api',
  'API',
  'events',
  'venues',
  'venue',
  '..',
  '.',
  '%2e%2e',
  '%2F',
  '',
  'x',
  '*',
  '%',
  '%zz',
  '%00',
  '\\',
]
const NAMES = [
  'Accept',
  'accept',
  'Host',
  'traceparent',
  'If-None-Match',
  'Range',
  'Cookie',
  'Connection',
  'Expect',
  'TE',
]
const VALUES = [
  'application/json',
  'application/xml;q=0.5, */*',
  'text/*;q=1.0000',
  'application/hal+json;profile="a,b;c"',
  '*/*;q=0, application/hal+xml',
  'q="0.5"',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  'W/"x", "y", *',
  'bytes=0-1,5-',
  'close',
  'keep-alive, Upgrade',
  '100-continue',
  '[::1',
  ',;,;=,',
  '',
]
const NOISE = [
  '\0',
  '\r',
  '\n',
  '\t',
  ' ',
  '\x7f',
  '\x80',
  '\xff',
  '"',
  '<',
  '{',
  '|',
  '^',
  '`',
  '#',
  '?',
  ';',
  '%',
  ':',
  '@',
  '/',
]

/**
 * A request of one connection: mostly nearly right, for what is all wrong is refused at the door. Bytes, one a
 * character.
 */
export function chaoticRequest(chance: Chance): string {
  const version = chance.happens(0.1)
    ? chance.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2', 'http/1.1', 'HTTP/1.12', ''])
    : 'HTTP/1.1'
  const lines = [`${chance.pick(METHODS)} ${target(chance)} ${version}`]
  if (chance.happens(0.95)) lines.push(`Host: ${chance.happens(0.1) ? noisy(chance, 'h') : 'x'}`)
  for (let count = chance.below(5); count > 0; count--) {
    const value = chance.happens(0.3) ? noisy(chance, chance.pick(VALUES)) : chance.pick(VALUES)
    lines.push(`${chance.happens(0.05) ? noisy(chance, 'A') : chance.pick(NAMES)}: ${value}`)
  }
  const body = chance.happens(0.15) ? 'x'.repeat(chance.below(2000)) : ''
  const declared = body.length + (chance.happens(0.1) ? 1 : 0)
  if (declared > 0) lines.push(`Content-Length: ${declared}`)
  if (chance.happens(0.05)) lines.push('Transfer-Encoding: chunked')
  const text = `${lines.join(chance.happens(0.02) ? '\n' : '\r\n')}\r\nConnection: close\r\n\r\n${body}`
  return chance.happens(0.1) ? noisy(chance, text) : text
}

function target(chance: Chance): string {
  const usual = (): string =>
    chance.pick([
      `/api/events/${chance.pick(IDS)}`,
      `/events/${chance.pick(IDS)}/venue`,
      `/api/venues/${chance.pick(IDS)}`,
    ])
  const parts = (): string =>
    `/${Array.from({ length: chance.below(6) }, () => chance.pick([...PARTS, ...IDS])).join('/')}`
  const path = chance.happens(0.5) ? usual() : parts()
  const whole = chance.happens(0.1)
    ? `${chance.pick(['http://h', 'HTTPS://[::1]:9', 'ftp://', 'http://u:p@h', 'x:'])}${path}`
    : path
  const asked = chance.happens(0.2) ? `${whole}?${chance.pick(['', 'a=b', '/../x', '#', '%', '?'])}` : whole
  return chance.happens(0.15) ? noisy(chance, asked) : asked
}

function noisy(chance: Chance, text: string): string {
  const at = chance.below(text.length + 1)
  const noise = chance.happens(0.1) ? chance.pick(NOISE).repeat(chance.below(3000)) : chance.pick(NOISE)
  return text.slice(0, at) + noise + text.slice(at + chance.below(3))
}

/** Rows of a list as an export job from hell writes them: JSON, and little else that is sure. */
export function chaoticRows(chance: Chance, ids: readonly string[], columns: readonly string[]): string {
  const rows = ids.map((Id) => {
    const row: Record<string, unknown> = {
      Id,
      Name: 'x',
      Start: '2036-07-12T19:30:00Z',
      Finish: '2036-07-12T23:00:00Z',
      ShowOnWeb: true,
    }
    for (let count = chance.below(6); count > 0; count--) row[chance.pick(columns)] = chaoticValue(chance, 0)
    return row
  })
  return JSON.stringify(rows)
}

const CELLS: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  1e308,
  -5e-324,
  2 ** 53 + 2,
  '',
  ' ',
  'null',
  '79228162514264337593543950336',
  `0.${'1'.repeat(400)}`,
  `1e${'9'.repeat(20)}`,
  '2026-02-30T25:61:61Z',
  '9999-12-31T23:59:59.9999999-14:00',
  '0001-01-01T00:00:00+14:00',
  '\0\u0001\u0085\u2028\uD800\uFFFF]]>&<"',
  '{Id}{Name}{',
  '__proto__',
  '~/events/x',
  'x'.repeat(5000),
]

function chaoticValue(chance: Chance, depth: number): unknown {
  const kind = chance.below(depth > 3 ? 6 : 10)
  if (kind < 6) return chance.pick(CELLS)
  if (kind < 8) return Array.from({ length: chance.below(5) }, () => chaoticValue(chance, depth + 1))
  const keys = ['Rel', 'Href', 'Title', 'constructor', 'toJSON']
  return Object.fromEntries(keys.slice(0, chance.below(6)).map((key) => [key, chaoticValue(chance, depth + 1)]))
}

/** The text of a configuration that is nearly one. */
export function chaoticConfiguration(chance: Chance): string {
  const keys = [
    'listen',
    'operations',
    'freshness',
    'limits',
    'crm',
    'timeZone',
    'representation',
    'log',
    'kind',
    'maxAge',
    'port',
    'files',
    'directory',
    '__proto__',
    'env',
    'file',
  ]
  const scalars = [
    '8080',
    '30s',
    '-1',
    '1e999',
    'null',
    '~',
    'true',
    '{ env: PATH }',
    '{ file: /dev/null }',
    '{ env: NOT_SET }',
    '[]',
    '"\\u0000"',
    '!!js/function x',
    '&a [*a]',
    '.inf',
    'Europe/Nowhere',
    "'",
    '|',
  ]
  const lines: string[] = chance.happens(0.7) ? ['crm:', '  kind: files', '  directory: ./crm'] : []
  for (let count = chance.below(12); count > 0; count--) {
    const indent = '  '.repeat(chance.below(3))
    const value = chance.happens(0.4) ? '' : ` ${chance.pick(scalars)}`
    lines.push(`${indent}${chance.happens(0.1) ? '- ' : ''}${chance.pick(keys)}:${value}`)
  }
  const text = lines.join('\n')
  return chance.happens(0.2) ? noisy(chance, text) : text
}
