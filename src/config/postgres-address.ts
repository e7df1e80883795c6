import { nearestName } from '../domain/nearest-name.ts'
import { type PostgresAddress, SSL_MODES } from './crm/sources.ts'

const PARAMETERS = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'application_name',
  'host',
  'port',
  'user',
  'password',
  'dbname',
] as const

/**
 * Parses a connection URL as libpq does (PostgreSQL documentation, 34.1.1.2), with a single host. Returns the rest of a
 * sentence if it is invalid, which quotes only known words of the URL.
 */
export function parsePostgresUrl(text: string): PostgresAddress | string {
  const trimmed = text.trim()
  // libpq allows a URL without a host (Unix socket), but URL.parse does not if there is a user, so `-` stands in.
  const url = URL.parse(trimmed.replace(/^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)(?=[/?]|$)/i, '$1-'))
  if (url === null) {
    return /^[^?]*@[^/?]*,/.test(trimmed)
      ? 'must name one host'
      : 'is not a URL; percent-encode what is not a letter or digit in the password'
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') return 'must begin with postgres://'
  if (url.hash !== '') return 'must not contain a #; write %23'
  const parameters = parametersOf(url.search)
  const [writtenUser, writtenPassword, path] = [url.username, url.password, url.pathname.slice(1)].map(decoded)
  if (parameters === null || isNone(writtenUser) || isNone(writtenPassword) || isNone(path))
    return 'contains a % without two hex digits; write %25'
  for (const name of parameters.keys()) {
    if (PARAMETERS.some((known) => known === name)) continue
    const near = nearestName(name, PARAMETERS)
    const hint = near === null ? `known: ${PARAMETERS.join(', ')}` : `did you mean ${near}?`
    return `has an unknown parameter; ${hint}`
  }
  // A parameter overrides the part before the `?`; an empty one is ignored.
  const given = (name: (typeof PARAMETERS)[number]): string | null => parameters.get(name) || null
  const sslMode = SSL_MODES.find((known) => known === (given('sslmode') ?? 'prefer'))
  if (sslMode === undefined) {
    const near = nearestName(given('sslmode') ?? '', SSL_MODES)
    return `has an unknown sslmode; ${near === null ? '' : `did you mean ${near}? `}known: ${SSL_MODES.join(', ')}`
  }
  const user = given('user') ?? writtenUser
  if (user === '') return 'must name a user: postgres://user@host/database'
  if (path.includes('/')) return 'must name one database after the host'
  const written = url.hostname === '-' ? '' : url.hostname
  const host = given('host') ?? decoded(written.replace(/^\[(.*)\]$/, '$1')) ?? ''
  if (host === '') return 'must name a host; a Unix socket is ?host=/var/run/postgresql'
  if (host.includes(',')) return 'must name one host'
  const port = portOf(given('port') ?? url.port)
  if (port === null) return 'must have a port from 1 to 65535'
  return {
    host,
    port,
    user,
    password: given('password') ?? (writtenPassword || null),
    database: given('dbname') ?? (path || user),
    sslMode,
    sslRootCert: given('sslrootcert'),
    sslCert: given('sslcert'),
    sslKey: given('sslkey'),
    applicationName: given('application_name'),
  }
}

/** The query parameters; the last of several with one name counts. `null` if one is not percent-encoded correctly. */
function parametersOf(search: string): ReadonlyMap<string, string> | null {
  const parameters = new Map<string, string>()
  for (const pair of search.slice(1).split('&')) {
    if (pair === '') continue
    const [, name, value] = (/^([^=]*)=?(.*)$/.exec(pair) ?? []).map(decoded)
    // libpq does not decode a plus as a blank.
    if (isNone(name) || isNone(value)) return null
    parameters.set(name, value)
  }
  return parameters
}

function portOf(text: string): number | null {
  if (text === '') return 5432
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

function isNone(text: string | null | undefined): text is null | undefined {
  return text === null || text === undefined
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
