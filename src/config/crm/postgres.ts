import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import type { CrmTraits, General } from '../general.ts'
import { leaf, ValueProblem, section } from '../key.ts'
import { duration, guid, NAME, path, text, textSchema, timeZone, word } from '../values.ts'
import { IN_THE_FILE, Secret } from '../../domain/secret.ts'
import { fieldSources } from './field-sources.ts'
import { condition } from './condition.ts'
import { requestTimeout } from './connector-lists.ts'
import { nearestName } from '../../domain/nearest-name.ts'
import { type PostgresAddress, SSL_MODES, isLowestPrice } from './sources.ts'

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
export function parsePostgresUrl(address: string): PostgresAddress | string {
  const trimmed = address.trim()
  // libpq allows a URL without a host (Unix socket), but URL.parse does not if there is a user, so `-` stands in.
  const url = URL.parse(trimmed.replace(/^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)(?=[/?]|$)/i, '$1-'))
  if (url === null) {
    return /^[^?]*@[^/?]*,/.test(trimmed)
      ? 'must name one host'
      : 'is not a URL; percent-encode what is not a letter or digit in the password'
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') return 'must begin with postgres://'
  if (url.hash !== '') return 'must not contain a #; write %23'
  if (!isEncoded(url.href)) return 'contains a % without two hex digits; write %25'
  const [writtenUser, writtenPassword] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const database = decodeURIComponent(url.pathname.slice(1))
  // libpq does not decode a plus as a blank.
  const parameters = new URLSearchParams(url.search.replaceAll('+', '%2B'))
  for (const name of parameters.keys()) {
    if (PARAMETERS.some((known) => known === name)) continue
    const near = nearestName(name, PARAMETERS)
    const hint = near === null ? `known: ${PARAMETERS.join(', ')}` : `did you mean ${near}?`
    return `has an unknown parameter; ${hint}`
  }
  // A parameter overrides the part before the `?`. The last of several counts, and an empty one is ignored.
  const parameter = (name: (typeof PARAMETERS)[number]): string | null => parameters.getAll(name).at(-1) || null
  const sslRootCert = parameter('sslrootcert')
  // Anyone can get a certificate that the system trusts, so libpq too demands that it is for the host.
  const trustsSystem = sslRootCert === 'system'
  const sslMode = SSL_MODES.find(
    (known) => known === (parameter('sslmode') ?? (trustsSystem ? 'verify-full' : 'prefer')),
  )
  if (sslMode === undefined) {
    const near = nearestName(parameter('sslmode') ?? '', SSL_MODES)
    return `has an unknown sslmode; ${near === null ? '' : `did you mean ${near}? `}known: ${SSL_MODES.join(', ')}`
  }
  if (trustsSystem && sslMode !== 'verify-full')
    return 'must not have an sslmode weaker than verify-full with sslrootcert=system'
  const user = parameter('user') ?? writtenUser
  if (user === '') return 'must name a user: postgres://user@host/database'
  if (database.includes('/')) return 'must name one database after the host'
  const written = url.hostname === '-' ? '' : url.hostname
  const host = parameter('host') ?? decodeURIComponent(written.replace(/^\[(.*)\]$/, '$1'))
  if (host === '') return 'must name a host; a Unix socket is ?host=/var/run/postgresql'
  if (host.includes(',')) return 'must name one host'
  const port = portOf(parameter('port') ?? url.port)
  if (port === null) return 'must have a port from 1 to 65535'
  return {
    host,
    port,
    user,
    password: parameter('password') ?? (writtenPassword || null),
    database: parameter('dbname') ?? (database || user),
    sslMode,
    sslRootCert,
    sslCert: parameter('sslcert'),
    sslKey: parameter('sslkey'),
    applicationName: parameter('application_name'),
  }
}

/** Returns true if every % begins an encoded character. */
function isEncoded(address: string): boolean {
  try {
    decodeURIComponent(address)
    return true
  } catch {
    return false
  }
}

function portOf(written: string): number | null {
  if (written === '') return 5432
  const port = /^\d{1,5}$/.test(written) ? Number(written) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

const TABLE = /^[^.\u0000]+(?:\.[^.\u0000]+)?$/

const url = leaf(
  'a URL such as postgres://user@host:5432/database?sslmode=verify-full, with its password only by { env: NAME } or { file: PATH }',
  textSchema(/^\s*[Pp][Oo][Ss][Tt][Gg][Rr][Ee][Ss](?:[Qq][Ll])?:\/\/(?![^/?#]*:[^/?#]+@)[^#]*$/),
  ({ value, reference }) => {
    if (typeof value !== 'string') return null
    const address = parsePostgresUrl(value)
    if (typeof address === 'string') return new ValueProblem(address, true)
    // A secret, because it usually contains a password.
    return new Secret(value, reference ?? IN_THE_FILE)
  },
)

const table = {
  from: text('the name of a table or view, or schema.name', TABLE).says(
    'The table or view to read, as `name` or `schema.name`; case-sensitive. A view is best: see docs/crm/postgres.md.',
  ),
  updatedAt: text('the name of a column', NAME)
    .orNull()
    .default('updated_at')
    .says('The `timestamptz` column that changes whenever a row does; without it every refresh is a full read.'),
  updatedAtIn: timeZone()
    .optional('the role’s `TimeZone` in the database')
    .says('If `updatedAt` is a `timestamp` without time zone: the zone of its writers.'),
  active: condition('Which rows are active. By default `{ active: [true] }`; null means all.'),
}

/** Two tables or views of a database. */
export const postgres = section({
  kind: word('postgres'),
  url: url.says('The database. `sslmode`, `sslrootcert`, `sslcert` and `sslkey` work as in libpq.'),
  listen: text('the name of a channel, of at most 63 bytes', NAME, (name) => Buffer.byteLength(name) <= 63)
    .optional()
    .says('The NOTIFY channel for changes: each notification causes a refresh.'),
  idScanEvery: duration()
    .optional('half the maximum age')
    .says(
      'How often all ids and times of change are compared; the age of records counts from there. At most the maximum age.',
    ),
  requestTimeout: requestTimeout.says(
    'The time limit of a connection, a statement or a lock, by this machine’s clock.',
  ),
  ca: path('the path of a PEM file').optional().says('Certificates to trust if the URL names none.'),
  idNamespace: guid()
    .optional()
    .says('For ids that are not UUIDs: they become UUIDv5 of this namespace and `<from>/<id>`.'),
  events: section({
    ...table,
    showOnWeb: condition('Which events are shown. By default `{ show_on_web: [true] }`; null means all.'),
    fields: fieldSources(EVENTS, { labels: false, hasStockFurther: true }),
  }),
  venues: section({ ...table, fields: fieldSources(VENUES, { labels: false, hasStockFurther: true }) }),
})
  .says('Two tables or views of a PostgreSQL database (docs/crm/postgres.md).')
  .map((block, { inFile: { folder } }) => (general: General) => {
    const { kind, idNamespace, events, venues } = block
    /** The zone of a `timestamp` without time zone. */
    const zone = { timeZone: general.timeZone }
    const traits: CrmTraits = {
      shaping() {
        const address = parsePostgresUrl(block.url.reveal())
        const { host, port, database } = typeof address === 'string' ? { host: '', port: 0, database: '' } : address
        return { kind, host, port, database, idNamespace, events, venues, ...zone }
      },
      idNames: () => [events.from, venues.from],
      isLowestPrice: () => isLowestPrice(events.fields),
    }
    return {
      ...block,
      ...zone,
      ...traits,
      /** The folder that paths in the URL are relative to. */
      folder,
      /** Parses the URL again, whose password may have changed. */
      addressIn: parsePostgresUrl,
    }
  })
