import { z } from 'zod'
import type { Guid } from '../../domain/guid.ts'
import type { Zone } from '../../domain/zone.ts'
import type { General } from '../general.ts'
import type { Secret } from '../secret.ts'
import { duration } from '../values/duration.ts'
import { guid } from '../values/guid.ts'
import { postgresUrl } from '../values/postgres-url.ts'
import { text } from '../values/text.ts'
import { timeZone } from '../values/time-zone.ts'
import type { Condition } from './condition.ts'
import type { EventOverrides, VenueOverrides } from './list-blocks.ts'
import { eventFields, override, venueFields } from './list-blocks.ts'

interface TableBlock<Overrides> {
  /** `name` or `schema.name`. */
  readonly from: string
  /** Null where no column tells when a row was changed. */
  readonly changedAt: string | null
  /** In which zone that column is wall time, where it is not that of the database's own setting. */
  readonly changedAtIn?: Zone | undefined
  readonly fields: Overrides
  readonly active?: Condition | null | undefined
}

export interface EventsTable extends TableBlock<EventOverrides> {
  readonly showOnWeb?: Condition | null | undefined
}

export type VenuesTable = TableBlock<VenueOverrides>

export interface PostgresBlock {
  readonly kind: 'postgres'
  readonly url: Secret
  readonly listen?: string | undefined
  readonly sweepEvery?: number | undefined
  readonly requestTimeout?: number | undefined
  readonly ca?: string | undefined
  readonly idNamespace?: Guid | undefined
  readonly events: EventsTable
  readonly venues: VenuesTable
}

export interface PostgresCrm {
  readonly kind: 'postgres'
  readonly url: Secret
  /** The channel to listen to; null for none. */
  readonly listen: string | null
  readonly sweepEveryMs: number
  /** Null where the bound decides. */
  readonly requestTimeoutMs: number | null
  readonly ca: string | null
  /** Makes a path of the URL absolute. */
  readonly absolute: (path: string) => string
  readonly idNamespace: Guid | null
  readonly events: EventsTable
  readonly venues: VenuesTable
  /** What a `timestamp` is wall time in. */
  readonly timeZone: Zone
}

const isName = (name: string): boolean => name !== '' && !name.includes('\0')
const isTable = (from: string): boolean => from.split('.').length <= 2 && from.split('.').every(isName)

const table = {
  from: text('the name of a table or view, or schema.name', isTable).describe(
    'What is read, as `name` or `schema.name`; case-sensitive. A view is best: see docs/crm/postgres.md.',
  ),
  changedAt: text('the name of a column', isName)
    .nullable()
    .prefault('changed_at')
    .describe('The `timestamptz` that moves when a row changes; without it every refresh is a full read.'),
  changedAtIn: timeZone()
    .optional()
    .meta({ shown: 'the `TimeZone` that the database has for the role' })
    .describe('Where `changedAt` is a `timestamp` without time zone: the zone of those who write it.'),
  active: override('Which rows are active; stock: `{ active: [true] }`. Null: all are.'),
}

type Shape<Block> = { [Key in keyof Block]-?: z.ZodType<Block[Key]> }

const eventsTable: z.ZodObject<Shape<EventsTable>, z.core.$strict> = z.strictObject({
  ...table,
  showOnWeb: override('Which events are shown; stock: `{ show_on_web: [true] }`. Null: all are.'),
  fields: eventFields([]),
})

const venuesTable: z.ZodObject<Shape<VenuesTable>, z.core.$strict> = z.strictObject({
  ...table,
  fields: venueFields([]),
})

export const postgresBlock: z.ZodObject<
  Omit<Shape<PostgresBlock>, 'kind'> & { kind: z.ZodLiteral<'postgres'> },
  z.core.$strict
> = z
  .strictObject({
    kind: z.literal('postgres').describe('A PostgreSQL database.'),
    url: postgresUrl().describe(
      'Where the database is. `sslmode`, `sslrootcert`, `sslcert` and `sslkey` are as in libpq.',
    ),
    listen: text('the name of a channel, of at most 63 bytes', (name) => isName(name) && Buffer.byteLength(name) <= 63)
      .optional()
      .describe('The NOTIFY channel that says read now.'),
    sweepEvery: duration()
      .optional()
      .meta({ shown: 'half the bound' })
      .describe('How often all ids and stamps are compared; what a record’s age counts from. At most the bound.'),
    requestTimeout: duration({ leastMs: 10 })
      .optional()
      .meta({ shown: 'a third of the bound, at most `10s`' })
      .describe('The longest a connection, a statement or a lock may take, by this machine’s clock.'),
    ca: text('the path of a PEM file', isName).optional().describe('Certificates to trust, where the URL names none.'),
    idNamespace: guid()
      .optional()
      .describe('Where ids are no UUIDs: they become UUIDv5 of this namespace and `<from>/<id>`.'),
    events: eventsTable,
    venues: venuesTable,
  })
  .describe('Two tables or views of a PostgreSQL database (docs/crm/postgres.md).')

export function postgresCrm(block: PostgresBlock, general: General, absolute: (path: string) => string): PostgresCrm {
  return {
    kind: 'postgres',
    url: block.url,
    listen: block.listen ?? null,
    sweepEveryMs: block.sweepEvery ?? Math.floor(general.freshness.boundMs / 2),
    requestTimeoutMs: block.requestTimeout ?? null,
    ca: block.ca === undefined ? null : absolute(block.ca),
    absolute,
    idNamespace: block.idNamespace ?? null,
    events: block.events,
    venues: block.venues,
    timeZone: general.timeZone,
  }
}
