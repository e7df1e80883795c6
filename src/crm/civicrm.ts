import { NO_LIMIT } from '../domain/event.ts'
import type { Batches, Cells, Connector, Context, Value } from './connector/marquee-connector.d.ts'
import { mappedBatches, batchRows } from './batches.ts'

/** Further columns that the configuration maps. */
export interface CivicrmOptions {
  /** The language of translated texts; `null` for the site's own. */
  readonly language: string | null
  readonly columns: { readonly events: readonly string[]; readonly venues: readonly string[] }
}

const EVENT = ['id', 'title', 'start_date', 'end_date', 'is_active', 'is_public', 'max_participants', 'loc_block_id']
const ADDRESS = ['name', 'street_address', 'city', 'postal_code', 'geo_code_1', 'geo_code_2'] as const
const LABELS = ['state_province_id:label', 'country_id:label'] as const
const VENUE = ['id', ...[...ADDRESS, ...LABELS].map((name) => `address_id.${name}`), 'phone_id.phone']

type Where = readonly (readonly Value[])[]

function get(
  { http, settings }: Context,
  entity: string,
  select: readonly string[],
  where: Where,
  inLanguage: { readonly language?: string },
): Batches<Cells> {
  const rows = { select, where: [...where, ['id', '>', '{after}']], orderBy: { id: 'ASC' }, limit: '{size}' }
  const params = { ...rows, ...inLanguage }
  return http.pages(`${settings['url']}/civicrm/ajax/api4/${entity}/get`, {
    by: 'key',
    size: 200,
    rows: 'values',
    errorAt: 'error_code',
    headers: headersOf(settings),
    query: { params },
  })
}

/** Returns the number of counted participants by event, because API v4 does not report free places. */
async function taken({ http, settings }: Context, ids: readonly Value[]): Promise<ReadonlyMap<Value, number>> {
  const params = {
    select: ['event_id', 'COUNT(id) AS number'],
    where: [
      ['event_id', 'IN', ids],
      ['status_id.is_counted', '=', true],
      ['is_test', '=', false],
    ],
    groupBy: ['event_id'],
  }
  const counts = new Map<Value, number>()
  const pages = http.pages(`${settings['url']}/civicrm/ajax/api4/Participant/get`, {
    by: 'none',
    whole: true,
    rows: 'values',
    errorAt: 'error_code',
    headers: headersOf(settings),
    query: { params },
  })
  for await (const batch of pages)
    for (const { event_id: id = null, number = 0 } of batchRows(batch)) counts.set(id, Number(number))
  return counts
}

function headersOf(settings: Context['settings']): Record<string, string> {
  return { 'X-Civi-Auth': `Bearer ${settings['key']}`, 'X-Requested-With': 'XMLHttpRequest' }
}

/** CiviCRM's events and their locations. Events have no time of change, so every refresh reads both lists in full. */
export function civicrmConnector({ language, columns }: CivicrmOptions): Connector {
  const inLanguage = language === null ? {} : { language }
  return {
    api: 2,
    settings: { url: 'url', key: 'secret' },
    events: {
      fields: {
        Id: 'id',
        Name: 'title',
        VenueId: 'loc_block_id',
        TicketCapacity: 'max_participants',
        TicketsAvailable: 'places',
        Start: 'start_date',
        Finish: 'end_date',
      },
      active: { is_active: [true] },
      showOnWeb: { is_public: [true] },
      async *full(context) {
        const select = [...EVENT, ...columns.events]
        for await (const batch of get(context, 'Event', select, [['is_template', '=', false]], inLanguage)) {
          const ids = batchRows(batch).map(({ id = null }) => id)
          const counts = ids.length === 0 ? new Map<Value, number>() : await taken(context, ids)
          yield* mappedBatches([batch], (row) => withPlaces(row, counts))
        }
      },
    },
    venues: {
      fields: {
        Id: 'id',
        Name: 'address_id.name',
        AddressStreet1: 'address_id.street_address',
        AddressCity: 'address_id.city',
        AddressPostalCode: 'address_id.postal_code',
        AddressState: 'address_id.state_province_id:label',
        AddressCountry: 'address_id.country_id:label',
        Latitude: 'address_id.geo_code_1',
        Longitude: 'address_id.geo_code_2',
        Telephone: 'phone_id.phone',
      },
      full: (context) => get(context, 'LocBlock', [...VENUE, ...columns.venues], [], inLanguage),
    },
  }
}

/** Adds the places that are left. */
function withPlaces(row: Cells, counts: ReadonlyMap<Value, number>): Cells {
  const { id = null, max_participants: most = null } = row
  if (most === null) return { ...row, max_participants: NO_LIMIT, places: NO_LIMIT }
  return { ...row, places: Math.max(0, Number(most) - (counts.get(id) ?? 0)) }
}
