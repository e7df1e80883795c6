import { z } from 'zod'
import type { Zone } from '../../domain/zone.ts'
import type { General } from '../general.ts'
import type { Secret } from '../secret.ts'
import { duration } from '../values/duration.ts'
import { flag } from '../values/flag.ts'
import { proxyUrl } from '../values/proxy-url.ts'
import { secretText } from '../values/secret-text.ts'
import { text } from '../values/text.ts'
import { webOrigin } from '../values/web-origin.ts'
import { wholeNumber } from '../values/whole-number.ts'
import type { Condition } from './condition.ts'
import type { EventOverrides, VenueOverrides } from './list-blocks.ts'
import { eventFields, override, venueFields } from './list-blocks.ts'

interface TableBlock<Overrides> {
  /** The entity set. */
  readonly from: string
  readonly fields: Overrides
  readonly active?: Condition | null | undefined
}

interface EventsTable extends TableBlock<EventOverrides> {
  readonly showOnWeb?: Condition | null | undefined
}

type VenuesTable = TableBlock<VenueOverrides>

export interface DataverseBlock {
  readonly kind: 'dataverse'
  readonly url: string
  readonly tenant: string
  readonly clientId: string
  readonly clientSecret: Secret
  readonly authority: string
  readonly requestTimeout?: number | undefined
  readonly labels: number
  readonly proxy?: Secret | undefined
  readonly ca?: string | undefined
  readonly availability?: { readonly every: number } | undefined
  readonly allowInsecure: boolean
  readonly events: EventsTable
  readonly venues: VenuesTable
}

export interface DataverseCrm {
  readonly kind: 'dataverse'
  /** `https://example.crm11.dynamics.com`, without a path. */
  readonly origin: string
  readonly tenant: string
  readonly clientId: string
  readonly clientSecret: Secret
  readonly authority: string
  /** Null where the bound decides. */
  readonly requestTimeoutMs: number | null
  readonly labels: number
  readonly proxy: Secret | null
  /** Absolute. */
  readonly ca: string | null
  readonly availabilityEveryMs: number | null
  /** What a date without an offset is wall time in. */
  readonly timeZone: Zone
  readonly events: EventsTable
  readonly venues: VenuesTable
}

type Shape<Block> = { [Key in keyof Block]-?: z.ZodType<Block[Key]> }

// What goes into an address must need no escaping there.
const isSet = (name: string): boolean => /^[a-z_]\w*$/i.test(name)
const isId = (id: string): boolean => /^[\w.-]+$/.test(id)

function from(set: string): z.ZodPrefault<z.ZodType<string>> {
  return text('the name of an entity set, such as msevtmgt_events', isSet)
    .prefault(set)
    .describe('The entity set that is read: the plural in the addresses of the Web API.')
}

const eventsTable: z.ZodType<EventsTable> = z
  .strictObject({
    from: from('msevtmgt_events'),
    active: override('Which rows are active; stock: `{ statecode: [0] }`. Null: all are.').optional(),
    showOnWeb: override(
      'Which events are shown; stock: `{ msevtmgt_publishstatus: [100000003], msevtmgt_istemplate: [100000002] }`. Null: all are.',
    ).optional(),
    fields: eventFields(['label']).prefault({}),
  })
  .prefault({})

const venuesTable: z.ZodType<VenuesTable> = z
  .strictObject({
    from: from('msevtmgt_venues'),
    active: override('Which rows are active; stock: `{ statecode: [0] }`. Null: all are.').optional(),
    fields: venueFields(['label']).prefault({}),
  })
  .prefault({})

export const dataverseBlock: z.ZodObject<
  Omit<Shape<DataverseBlock>, 'kind'> & { kind: z.ZodLiteral<'dataverse'> },
  z.core.$strict
> = z
  .strictObject({
    kind: z.literal('dataverse').describe('Dynamics 365, or any table of Dataverse.'),
    url: webOrigin('https://example.crm11.dynamics.com').describe('The environment.'),
    tenant: text('the Directory (tenant) ID, a GUID or a domain', isId).describe(
      'The directory of the app registration.',
    ),
    clientId: text('the Application (client) ID, a GUID', isId).describe('The app registration.'),
    clientSecret: secretText('the secret’s value', (secret) => secret !== '' && secret === secret.trim()).describe(
      'A client secret of the app registration. A file is read again when the secret is refused.',
    ),
    authority: webOrigin('https://login.microsoftonline.com')
      .prefault('https://login.microsoftonline.com')
      .describe('Where tokens come from; another cloud has another.'),
    requestTimeout: duration({ leastMs: 10 })
      .optional()
      .meta({ shown: 'a third of the bound, at most `10s`' })
      .describe('The longest a request may take, its whole answer included.'),
    labels: wholeNumber(1, 65_535).prefault(1033).describe('The language (LCID) of labels.'),
    proxy: proxyUrl()
      .optional()
      .meta({ shown: 'what `HTTPS_PROXY` and `NO_PROXY` say' })
      .describe('The forward proxy that requests take; NO_PROXY does not count then.'),
    ca: text('the path of a PEM file', (path) => path !== '' && !path.includes('\0'))
      .optional()
      .describe('Further certificates to trust.'),
    availability: z
      .strictObject({
        every: duration({ leastMs: 100 }).describe(
          'How often TicketsAvailable and TicketCapacity are read on their own.',
        ),
      })
      .optional()
      .describe('Where registrations do not touch the event’s row.'),
    allowInsecure: flag().prefault(false).describe('Whether `http:` may go anywhere but to this machine.'),
    events: eventsTable,
    venues: venuesTable,
  })
  .describe('Two tables of a Dataverse environment (docs/crm/dataverse.md).')

export function dataverseCrm(
  block: DataverseBlock,
  general: General,
  absolute: (path: string) => string,
): DataverseCrm {
  const { kind, tenant, clientId, clientSecret, authority, labels, events, venues } = block
  return {
    kind,
    origin: block.url,
    tenant,
    clientId,
    clientSecret,
    authority,
    requestTimeoutMs: block.requestTimeout ?? null,
    labels,
    proxy: block.proxy ?? null,
    ca: block.ca === undefined ? null : absolute(block.ca),
    availabilityEveryMs: block.availability?.every ?? null,
    timeZone: general.timeZone,
    events,
    venues,
  }
}
