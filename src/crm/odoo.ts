import { NO_LIMIT } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import { fieldsOf, isJsonList } from '../domain/json-value.ts'
import type { Batches, Cells, Connector, Context, Stream, Value } from './connector/marquee-connector.d.ts'
import { mappedBatches, batchRows } from './batches.ts'

/** Settings from the configuration besides the connector's own. */
export interface OdooOptions {
  /** 19 and later have JSON-2; 17 and 18 are asked by JSON-RPC, in the name of a user. */
  readonly version: number
  /** The language of translated texts; `null` for that of the key's user. */
  readonly language: string | null
  /** Which partners are venues, as an Odoo domain. */
  readonly venues: readonly Value[]
  /** Further columns that the configuration maps. */
  readonly columns: Readonly<Record<ListName, readonly string[]>>
  /** The mapped columns in which `false` is a value. In all others it stands for a blank. */
  readonly flags: Readonly<Record<ListName, readonly string[]>>
  /** The mapped columns that the separate read of the seats needs. */
  readonly seats: readonly string[]
}

type Domain = readonly Value[]
type Search = (context: Context, model: string, domain: Domain, fields: readonly string[]) => Batches<Cells>

/** One of Odoo's two APIs. */
interface OdooApi {
  /** Reads the rows of a model in the order of their ids, archived ones too. */
  search(context: Context, model: string, body: Readonly<Record<string, Value>>): Batches<Cells>
  /** Asks for the context of the key's user, which has the user's language. */
  userContext(context: Context): Promise<unknown>
}

const SEATS = ['seats_limited', 'seats_max', 'seats_available']
const EVENT = [
  'name',
  'active',
  'is_published',
  'address_id',
  'date_begin',
  'date_end',
  'tag_ids',
  'write_date',
  ...SEATS,
]
const PLACE = ['street', 'street2', 'zip', 'city', 'state_id', 'country_id', 'partner_latitude', 'partner_longitude']
const VENUE = ['name', 'active', 'phone', 'website', 'write_date', ...PLACE]
const PAGING = { by: 'key', size: 200 } as const

/**
 * Odoo's events, and the partners that are venues. Registrations do not move an event's `write_date`, so the seats are
 * read on their own.
 */
export function odooConnector({ version, language, venues, columns, flags, seats }: OdooOptions): Connector {
  const api = version < 19 ? JSON_RPC : JSON_2
  /** The language of the texts; none, which is Odoo's source language, while it is not known. */
  let texts: { readonly lang?: string } = language === null ? {} : { lang: language }
  let learning: Promise<void> | null = language === null ? null : Promise.resolve()
  const learn = async (context: Context): Promise<void> => {
    texts = (await languageOfUser(api, context)) ?? texts
  }
  const search: Search = async function* (context, model, domain, fields) {
    await (learning ??= learn(context))
    yield* api.search(context, model, {
      order: 'id',
      limit: '{size}',
      context: { active_test: false, ...texts },
      domain: [...domain, ['id', '>', '{after}']],
      fields,
    })
  }
  const [eventFlags, venueFlags] = [new Set([...FLAGS, ...flags.events]), new Set([...FLAGS, ...flags.venues])]
  const waysOf = (
    model: string,
    base: Domain,
    read: (context: Context, domain: Domain) => Batches<Cells>,
  ): Pick<Stream, 'updatedAt' | 'full' | 'since' | 'ids' | 'byId'> => ({
    updatedAt: 'write_date',
    full: (context) => read(context, base),
    // Odoo stores times more exactly than it sends them, so the filter includes equal times. The time of an empty list
    // is in ISO 8601, which Odoo does not read.
    since: (context, updatedAt) =>
      read(context, [...base, ['write_date', '>=', updatedAt.replace('T', ' ').slice(0, 19)]]),
    byId: (context, ids) => read(context, [...base, ['id', 'in', ids.map(Number)]]),
    ids: (context) =>
      mappedBatches(search(context, model, base, ['write_date']), ({ id, write_date: stamp }) => [
        Number(id),
        typeof stamp === 'string' ? stamp : null,
      ]),
  })
  async function* events(context: Context, domain: Domain): Batches<Cells> {
    for await (const batch of search(context, 'event.event', domain, [...EVENT, ...columns.events])) {
      const rows = batchRows(batch)
      const tags = [...new Set(rows.flatMap((row) => itemsOf(row['tag_ids'])))]
      const tickets = await linked(
        context,
        'event.event.ticket',
        'event_id',
        rows.map(({ id = null }) => id),
        'price',
      )
      const names = await linked(context, 'event.tag', 'id', tags, 'name')
      yield* mappedBatches([batch], (row) => blanked(eventRow(row, tickets, names), eventFlags))
    }
  }
  /** The rows of another model that belong to these ids. */
  async function linked(context: Context, model: string, by: string, ids: Domain, field: string): Promise<Cells[]> {
    const rows: Cells[] = []
    if (ids.length === 0) return rows
    for await (const batch of search(context, model, [[by, 'in', ids]], [by, field])) rows.push(...batchRows(batch))
    return rows
  }
  return {
    api: 2,
    settings: { url: 'url', database: 'text', key: 'secret', ...(version < 19 ? { user: 'text' } : {}) },
    events: {
      ...waysOf('event.event', [], events),
      full(context) {
        // The user may have another language by now.
        if (language === null) learning = learn(context)
        return events(context, [])
      },
      fields: {
        Id: 'id',
        Name: 'name',
        VenueId: 'address_id.0',
        Price: 'price',
        Tags: 'tags',
        TicketCapacity: 'seats_max',
        TicketsAvailable: 'seats_available',
        // Odoo's dates are in UTC, without saying so.
        Start: { column: 'date_begin', wallTimeIn: 'UTC' },
        Finish: { column: 'date_end', wallTimeIn: 'UTC' },
      },
      active: { active: [true] },
      showOnWeb: { is_published: [true] },
      availability: (context) =>
        mappedBatches(search(context, 'event.event', [], [...new Set([...SEATS, ...seats])]), withSeats),
    },
    venues: {
      ...waysOf('res.partner', venues, (context, domain) =>
        mappedBatches(search(context, 'res.partner', domain, [...VENUE, ...columns.venues]), (row) =>
          blanked(venueRow(row), venueFlags),
        ),
      ),
      fields: {
        Id: 'id',
        Name: 'name',
        Telephone: 'phone',
        Website: 'website',
        AddressStreet1: 'street',
        AddressStreet2: 'street2',
        AddressCity: 'city',
        AddressPostalCode: 'zip',
        AddressState: 'state_id.1',
        AddressCountry: 'country_id.1',
        Latitude: 'partner_latitude',
        Longitude: 'partner_longitude',
      },
      active: { active: [true] },
    },
  }
}

/** Odoo answers a field that a model does not have with this error, and with status 500. */
const NO_SUCH_FIELD = ['builtins.ValueError']

const JSON_2: OdooApi = {
  search: (context, model, body) => {
    const options = { ...PAGING, ...json2Options(context), misconfiguredAs: NO_SUCH_FIELD, body }
    return context.http.pages(`${context.settings['url']}/json/2/${model}/search_read`, options)
  },
  userContext: (context) => {
    const url = `${context.settings['url']}/json/2/res.users/context_get`
    return context.http.post(url, { ...json2Options(context), body: {} })
  },
}

function json2Options({ settings: { key, database } }: Context) {
  return {
    bearer: String(key),
    headers: { 'X-Odoo-Database': String(database) },
    errorAt: 'name',
    refusedAs: ['werkzeug.exceptions.Unauthorized'],
  }
}

/** As above, by JSON-RPC: Odoo 17 and 18 take an API key in the place of the user's password. */
const JSON_RPC: OdooApi = {
  async *search(context, model, { domain = null, ...how }) {
    const args = [...(await signedIn(context)), model, 'search_read', [domain], how]
    const options = { ...PAGING, rows: 'result', ...rpcOptions('object', 'execute_kw', args) }
    yield* context.http.pages(`${context.settings['url']}/jsonrpc`, options)
  },
  async userContext(context) {
    const args = [...(await signedIn(context)), 'res.users', 'context_get', [], {}]
    const options = rpcOptions('object', 'execute_kw', args)
    const answer: unknown = await context.http.post(`${context.settings['url']}/jsonrpc`, options)
    return fieldsOf(answer)['result']
  },
}

function rpcOptions(service: string, method: string, args: Domain) {
  return {
    errorAt: 'error.data.name',
    refusedAs: ['odoo.exceptions.AccessDenied'],
    misconfiguredAs: NO_SUCH_FIELD,
    body: { jsonrpc: '2.0', method: 'call', params: { service, method, args } },
  }
}

/** Returns the first arguments of each call: the database, the user's number and the key. */
async function signedIn(context: Context): Promise<Domain> {
  const { url, database, user, key } = context.settings
  const options = rpcOptions('common', 'authenticate', [database, user, key, {}])
  const answer: unknown = await context.http.post(`${url}/jsonrpc`, options)
  const { result: uid } = fieldsOf(answer)
  if (typeof uid !== 'number') context.fail('refused', `Odoo refuses the key of the user ${user}`)
  return [String(database), uid, String(key)]
}

/**
 * Returns the language of the key's user; `null` if Odoo does not tell it. The read then goes on: if Odoo is away, it
 * fails by itself.
 */
async function languageOfUser(api: OdooApi, context: Context): Promise<{ readonly lang: string } | null> {
  try {
    const { lang } = fieldsOf(await api.userContext(context))
    return typeof lang === 'string' && lang !== '' ? { lang } : null
  } catch {
    return null
  }
}

function eventRow(row: Cells, tickets: readonly Cells[], tags: readonly Cells[]): Cells {
  const own = tickets.filter((ticket) => itemsOf(ticket['event_id'])[0] === row['id'])
  const prices = own.map(({ price = null }) => price).toSorted((left, right) => Number(left) - Number(right))
  const names = itemsOf(row['tag_ids']).map((id) => tags.find((tag) => tag['id'] === id)?.['name'] ?? null)
  return { ...withSeats(row), price: prices[0] ?? null, tags: names }
}

/** Odoo gives an event without a limit 0 seats and 0 left, or those of a limit that it once had. */
function withSeats(row: Cells): Cells {
  return row['seats_limited'] === true ? row : { ...row, seats_max: NO_LIMIT, seats_available: NO_LIMIT }
}

/** A partner that was never located is at 0 and 0. */
function venueRow(row: Cells): Cells {
  const isPlaced = Number(row['partner_latitude']) !== 0 || Number(row['partner_longitude']) !== 0
  return isPlaced ? row : { ...row, partner_latitude: null, partner_longitude: null }
}

const FLAGS = new Set(['active', 'is_published', 'seats_limited'])

/** Odoo writes `false` for a text, a date or a link that is blank. */
function blanked(row: Cells, flags: ReadonlySet<string>): Cells {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === false && !flags.has(name) ? null : value]),
  )
}

/** A link is `[id, name]`, several are `[id, id]`, none is `false`. */
function itemsOf(value: Value | undefined): readonly Value[] {
  return isJsonList(value) ? value : []
}
