// The Dataverse connector: reads two tables through the Web API. An EntitySource decides which read to make. A
// PageReader requests the pages through the one client with its token (client.ts, directory-tokens.ts). An EntityTable turns rows
// into changes, with the labels of codes and the time zones (labels.ts).

import type { CrmSettings } from '../../config/configuration.ts'
import type { ListName } from '../../domain/field.ts'
import type { Outcome } from '../../observe/observation.ts'
import type { Crm } from '../../sync/port.ts'
import { type ConnectorContext, listContexts } from '../kit/crm-limits.ts'
import { type OpenHttpClient, trustingHttpClient } from '../web/http-client.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import { DataverseClient } from './client.ts'
import { Pauses } from '../kit/throttle.ts'
import { Labels, ZoneCodes } from './labels.ts'
import { type EntityTable, type TableParts, entityTable } from './table-rows.ts'
import { type FullReadCosts, FullReadPace, type NoTracking, Tracking } from './tracking.ts'
import { eventsSetting, venuesSetting } from './stock-mapping.ts'
import { PageReader } from './page-reader.ts'
import { AVAILABILITY_ROWS, EntitySource } from './entity-source.ts'
import { DirectoryTokens } from './directory-tokens.ts'
import { type ListSetting, mappedColumns } from '../mapping/list-setting.ts'

export interface DataverseContext extends Omit<ConnectorContext, 'descriptors'> {
  readonly openHttpClient: OpenHttpClient
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The settings, without what they say of themselves. */
export type DataverseSettings = Omit<CrmSettings<'dataverse'>, 'shaping' | 'idNames' | 'isLowestPrice'>

export function openDataverseCrm(settings: DataverseSettings, context: DataverseContext): Crm {
  const { url: origin, ca, proxy, clientId, availability } = settings
  const { limits, time, observe, openHttpClient, env } = context
  const contexts = listContexts(context)
  const proxies = { configured: proxy?.reveal() ?? null, env }
  const web = trustingHttpClient(openHttpClient, ca, proxies)
  const tokens = new DirectoryTokens({ ...settings, web, time, limits, scope: `${origin}/.default` })
  const onRequest = (outcome: Outcome): void => observe({ kind: 'crm-request', outcome })
  const client = new DataverseClient({ web, tokens, time, limits, origin, clientId, onRequest })
  const zones = new ZoneCodes(client, time)
  const costs: FullReadCosts = new Map()

  const partsOf = (setting: ListSetting, list: ListName): TableParts => {
    const labelled = mappedColumns(setting).filter(({ label }) => label)
    const columns = [...new Set(labelled.map(({ column }) => column))]
    const { from } = setting
    const onMissing = (column: string, codes: number): void =>
      observe({ kind: 'labels-missing', table: from, column, codes })
    const labels = new Labels({ client, time, from, language: settings.language, columns, onMissing })
    return { ...contexts[list], labels, zones, zone: settings.timeZone, venuesFrom: settings.venues.from }
  }
  const sourceOf = <Item>(table: EntityTable<Item>): EntitySource<Item> => {
    const { name: list, from } = table
    const pauses = new Pauses()
    const onPause = (forMs: number): void => pauses.tell(forMs, `${new URL(origin).host} asks for a pause`)
    const onOff = (why: NoTracking): void =>
      observe({ kind: why === 'off' ? 'no-change-tracking' : 'changes-unreadable', list, table: from })
    return new EntitySource({
      reader: new PageReader(client, table, time, onPause),
      availabilityReader: new PageReader(client, table, time, onPause, AVAILABILITY_ROWS),
      tracking: new Tracking(time, onOff),
      pace: new FullReadPace(time, costs),
      time,
      limits,
      pauses,
      availabilityEveryMs: table.availability === null ? null : (availability?.everyMs ?? null),
    })
  }
  const events = eventsSetting(settings.events, contexts.events.further)
  const venues = venuesSetting(settings.venues, contexts.venues.further)
  const tables = {
    events: entityTable(EVENT_ROWS, events, partsOf(events, 'events')),
    venues: entityTable(VENUE_ROWS, venues, partsOf(venues, 'venues')),
  }
  const sources = { events: sourceOf(tables.events), venues: sourceOf(tables.venues) }
  return {
    ...sources,
    mapping: [events, venues],
    async examine() {
      const warnings = [
        ...untracked(events.from, sources.events.noTracking),
        ...untracked(venues.from, sources.venues.noTracking),
        tables.events.unlabelled.warning('events'),
        tables.venues.unlabelled.warning('venues'),
      ].filter((warning) => warning !== null)
      const asked = [await sources.events.examine(), await sources.venues.examine()]
      return { problems: asked.filter((problem) => problem !== null), warnings }
    },
    async close() {
      web.close()
    },
  }
}

function untracked(table: string, why: NoTracking | null): readonly string[] {
  if (why === null) return []
  const fact = {
    off: 'has no change tracking: it is read in full each time; switch on "Track changes" in the table\'s properties',
    failing:
      'has change tracking whose links cannot be followed: it is read in full each time; does a proxy change the answers?',
  }
  return [`the table ${table} ${fact[why]}`]
}
