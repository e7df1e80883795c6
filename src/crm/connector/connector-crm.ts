import type { SaidList, TextSettings } from '../../config/crm/sources.ts'
import type { ListName } from '../../domain/field.ts'
import { NO_FURTHER } from '../../domain/further.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Crm } from '../../sync/port.ts'
import { withTimeout } from '../../time/waiting.ts'
import { type ConnectorContext, listContexts } from '../kit/crm-limits.ts'
import { type RowKind, EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import { type ConnectorSourceSettings, ConnectorSource } from './connector-source.ts'
import type { RowHost } from './row-host.ts'
import { RowStream } from './row-stream.ts'

export interface ConnectorSettings {
  readonly idNamespace: Guid | null
  readonly timeZone: Zone
  readonly events: SaidList | null
  readonly venues: SaidList | null
  /** Whether tickets are also read by themselves; `null` if the connector decides. */
  readonly availability: boolean | null
  /** What `<from>` of `idNamespace` is; absent for the lists' names. */
  readonly from?: Readonly<Record<ListName, string>>
  /** The interval of comparisons of all rows; half the maximum age if absent. */
  readonly compareEveryMs?: () => number
  /** How texts are read; absent if the connector's own program converts them. */
  readonly texts?: Readonly<Record<ListName, TextSettings | null>>
}

/** Returns what reads a list from a stream of its rows. */
export function listSource<Item extends { readonly Id: Guid }>(
  settings: ConnectorSourceSettings<Item>,
): ConnectorSource<Item> {
  return new ConnectorSource(settings)
}

const OWN_NAMES = { events: 'events', venues: 'venues' } as const
/** How long the start waits for the connector to report how its lists can be read. */
const FIRST_START_MS = 5000

export async function connectorCrm(
  host: RowHost,
  { idNamespace, timeZone: zone, availability, texts, from = OWN_NAMES, compareEveryMs, ...said }: ConnectorSettings,
  context: ConnectorContext,
): Promise<Crm> {
  const { time, limits, observe, further = NO_FURTHER } = context
  const contexts = listContexts(context)
  const events = new RowStream('events', host, said.events, further)
  const venues = new RowStream('venues', host, said.venues, further)
  // Whether a list reports changes has to be known before its reads are planned.
  await withTimeout(time, FIRST_START_MS, Promise.all([events.shape(), venues.shape()]))
  const readsTickets = availability ?? events.known?.ways.has('availability') === true
  const sourceOf = <Item extends { readonly Id: Guid }>(
    kind: RowKind<Item>,
    stream: RowStream,
    tickets: boolean,
  ): ConnectorSource<Item> => {
    const how = texts === undefined ? {} : { texts: texts[stream.name] }
    const parts = { idNamespace, zone, from, ...how, ...contexts[stream.name] }
    const pace = compareEveryMs === undefined ? {} : { compareEveryMs }
    return listSource({ time, limits, observe, kind, stream, parts, readsTickets: tickets, ...pace })
  }
  const sources = {
    events: sourceOf(EVENT_ROWS, events, readsTickets),
    venues: sourceOf(VENUE_ROWS, venues, false),
  }
  return {
    ...sources,
    get mapping() {
      const mappings = [events.mapping, venues.mapping]
      return mappings.includes(null) ? null : mappings
    },
    get readings() {
      return [sources.events.reading, sources.venues.reading].filter((reading) => reading !== null)
    },
    async examine() {
      const asked = [await sources.events.examine(), await sources.venues.examine()]
      return { problems: asked.filter((problem) => problem !== null), warnings: [] }
    },
    async conform(isThorough) {
      const { examineList } = await import('./conformance.ts')
      const found = await examineList('events', events, time, isThorough)
      return [...found, ...(await examineList('venues', venues, time, isThorough))]
    },
    close: () => host.close(),
  }
}
