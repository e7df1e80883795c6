import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import type { CrmTraits, General } from '../general.ts'
import { leaf, ValueProblem } from '../key.ts'
import { duration, guid, NAME, path, text, textSchema, timeZone, word } from '../values.ts'
import { parsePostgresUrl } from '../postgres-address.ts'
import { IN_THE_FILE, Secret } from '../../domain/secret.ts'
import { section } from '../section.ts'
import { fieldSources } from './field-sources.ts'
import { condition } from './condition.ts'

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
  requestTimeout: duration({ leastMs: 10 })
    .optional('a third of the maximum age, at most `10s`')
    .says('The time limit of a connection, a statement or a lock, by this machine’s clock.'),
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
      mapsPrice: () => events.fields.Price !== null,
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
