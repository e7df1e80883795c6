import { nearestName } from './nearest-name.ts'

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** How a connection is encrypted and whom it trusts, in libpq's words. */
type SslMode = (typeof SSL_MODES)[number]

/** Where a PostgreSQL server is, as which role, and by what kind of connection. */
export interface PostgresAddress {
  /** A name, an IP address without brackets, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  /** Null where the URL has none. */
  readonly password: string | null
  readonly database: string
  readonly sslMode: SslMode
  /** Paths as they were written; `system` is the certificates the system trusts. */
  readonly sslRootCert: string | null
  readonly sslCert: string | null
  readonly sslKey: string | null
  readonly applicationName: string | null
}

/** Why a URL is none of a PostgreSQL server: the rest of a sentence, without anything of the URL but known words. */
export class BadAddress {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'application_name', 'host'] as const

/** Reads a connection URL as libpq does (PostgreSQL documentation, 34.1.1.2), for one host. */
export function parsePostgresUrl(text: string): PostgresAddress | BadAddress {
  const trimmed = text.trim()
  // A host may be left out (Unix socket), which no other parser of URLs takes with a user before it.
  const url = URL.parse(trimmed.replace(/^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)(?=[/?]|$)/i, '$1-'))
  if (url === null) {
    return new BadAddress(
      /^[^?]*@[^/?]*,/.test(trimmed)
        ? 'must name one host'
        : 'is no URL; percent-encode what is no letter or digit in the password',
    )
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    return new BadAddress('must begin with postgres://')
  if (url.hash !== '') return new BadAddress('must not hold a #; write %23')
  const parameters = url.searchParams
  for (const name of parameters.keys()) {
    if (PARAMETERS.some((known) => known === name)) continue
    const near = nearestName(name, PARAMETERS)
    const hint = near === null ? `known: ${PARAMETERS.join(', ')}` : `did you mean ${near}?`
    return new BadAddress(`has a parameter that is not known; ${hint}`)
  }
  const sslMode = sslModeOf(parameters.get('sslmode'))
  if (sslMode instanceof BadAddress) return sslMode
  const [user, password, path] = [url.username, url.password, url.pathname.slice(1)].map(decoded)
  if (
    user === undefined ||
    password === undefined ||
    path === undefined ||
    user === null ||
    password === null ||
    path === null
  )
    return new BadAddress('holds a % without two hex digits; write %25')
  if (user === '') return new BadAddress('must name a user: postgres://user@host/database')
  if (path.includes('/')) return new BadAddress('must name one database behind the host')
  const written = url.hostname === '-' ? '' : url.hostname
  const host = parameters.get('host') ?? decoded(written.replace(/^\[(.*)\]$/, '$1')) ?? ''
  if (host === '') return new BadAddress('must name a host; a Unix socket is ?host=/var/run/postgresql')
  if (host.includes(',')) return new BadAddress('must name one host')
  return {
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    user,
    password: password === '' ? null : password,
    database: path === '' ? user : path,
    sslMode,
    sslRootCert: parameters.get('sslrootcert'),
    sslCert: parameters.get('sslcert'),
    sslKey: parameters.get('sslkey'),
    applicationName: parameters.get('application_name'),
  }
}

function sslModeOf(given: string | null): SslMode | BadAddress {
  const mode = SSL_MODES.find((known) => known === (given ?? 'prefer'))
  if (mode !== undefined) return mode
  const near = nearestName(given ?? '', SSL_MODES)
  return new BadAddress(
    `has an sslmode that does not exist; ${near === null ? '' : `did you mean ${near}? `}known: ${SSL_MODES.join(', ')}`,
  )
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
