import { StandIn } from './stand-in.ts'
import { StandInTable, Versions } from './stand-in-table.ts'

/** An environment with Dynamics' stock tables and a few custom columns. */
export interface Environment {
  readonly standIn: StandIn
  readonly events: StandInTable
  readonly venues: StandInTable
}

export interface EnvironmentOptions {
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly publicOrigin?: string
}

export async function openEnvironment(options: EnvironmentOptions = {}): Promise<Environment> {
  const versions = new Versions()
  const events = new StandInTable('msevtmgt_events', 'msevtmgt_event', 'msevtmgt_eventid', EVENT_COLUMNS, versions)
  const venues = new StandInTable('msevtmgt_venues', 'msevtmgt_venue', 'msevtmgt_venueid', VENUE_COLUMNS, versions)
  const zones = new StandInTable(
    'timezonedefinitions',
    'timezonedefinition',
    'timezonedefinitionid',
    ZONE_COLUMNS,
    versions,
  )
  zones.changeTracking = false
  zones.put(idOf(0x7_0055), { timezonecode: 85, standardname: 'GMT Standard Time' })
  zones.put(idOf(0x7_0035), { timezonecode: 35, standardname: 'Eastern Standard Time' })
  const standIn = new StandIn({ tables: [events, venues, zones], versions, ...options })
  await standIn.listen()
  return { standIn, events, venues }
}

/** The `crm` section by which a Marquee reads it; the secret is in the environment variable SECRET. */
export function crmSection(
  { origin: url, directory: { tenant, clientId } }: StandIn,
  keys: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const clientSecret = { env: 'SECRET' }
  return { kind: 'dataverse', url, authority: url, tenant, clientId, clientSecret, ...keys }
}

export function idOf(number: number): string {
  return `2e451703-c686-e711-80e5-${number.toString(16).padStart(12, '0')}`
}

/** A number that is sent with these very digits. */
export function digits(text: string): unknown {
  const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown }
  return rawJSON?.(text)
}

/** The values of an event that is shown. */
export function eventValues(number: number, given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    msevtmgt_name: `Event ${number}`,
    _msevtmgt_primaryvenue_value: idOf(0x1_0000 + (number % 5)),
    msevtmgt_maximumeventcapacity: 100,
    msevtmgt_registrationcount: 10,
    msevtmgt_eventstartdate: '2026-07-12T19:30:00Z',
    msevtmgt_eventenddate: '2026-07-12T22:00:00Z',
    msevtmgt_eventtimezone: 85,
    msevtmgt_eventtimezonename: 'GMT Standard Time',
    msevtmgt_publishstatus: 100_000_003,
    msevtmgt_istemplate: 100_000_002,
    statecode: 0,
    ...given,
  }
}

export function venueValues(number: number, given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { msevtmgt_name: `Venue ${number}`, msevtmgt_city: 'Leeds', statecode: 0, ...given }
}

/** Five venues, and as many events as are asked for. */
export function fill({ events, venues }: Environment, count: number): void {
  for (let number = 0; number < 5; number++) venues.put(idOf(0x1_0000 + number), venueValues(number))
  for (let number = 1; number <= count; number++) events.put(idOf(number), eventValues(number))
}

const TEXT = { type: 'String' } as const
const NUMBER = { type: 'Integer' } as const
const CHOICE = { type: 'Picklist' } as const
const DATE = { type: 'DateTime' } as const

const EVENT_COLUMNS = {
  msevtmgt_name: TEXT,
  msevtmgt_primaryvenue: { type: 'Lookup' },
  msevtmgt_maximumeventcapacity: NUMBER,
  msevtmgt_registrationcount: NUMBER,
  msevtmgt_eventstartdate: DATE,
  msevtmgt_eventenddate: DATE,
  msevtmgt_eventtimezone: NUMBER,
  msevtmgt_eventtimezonename: TEXT,
  msevtmgt_publishstatus: CHOICE,
  msevtmgt_istemplate: CHOICE,
  statecode: { type: 'State' },
  cr5_price: { type: 'Money' },
  cr5_opensat: DATE,
  cr5_tags: {
    type: 'Virtual',
    labels: {
      1033: { 2: 'Hiking', 3: 'Mountain; Climbing', 8: 'Skiing, alpine', 9: 'Camping' },
      1031: { 2: 'Wandern', 3: 'Bergsteigen', 8: 'Ski', 9: 'Zelten' },
    },
  },
} as const

const VENUE_COLUMNS = {
  msevtmgt_name: TEXT,
  msevtmgt_addressline1: TEXT,
  msevtmgt_addressline2: TEXT,
  msevtmgt_addressline3: TEXT,
  msevtmgt_city: TEXT,
  msevtmgt_postalcode: TEXT,
  msevtmgt_stateprovince: TEXT,
  msevtmgt_country: TEXT,
  msevtmgt_telephone1: TEXT,
  msevtmgt_description: TEXT,
  msevtmgt_website: TEXT,
  msevtmgt_wifipassword: TEXT,
  cr5_latitude: { type: 'Decimal' },
  statecode: { type: 'State' },
} as const

const ZONE_COLUMNS = { timezonecode: NUMBER, standardname: TEXT } as const
