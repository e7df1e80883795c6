// The connectors that ship with Marquee and are written against the outer port (connector/marquee-connector.d.ts). In:
// the settings of their kind. Out: a Crm. Their code is known, so they run in this process.

import { type SaidList, columnSource, onlyWhereOf } from '../config/crm/sources.ts'
import type { CrmSettings } from '../config/configuration.ts'
import { type FurtherField, NO_FURTHER } from '../domain/further.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { Crm } from '../sync/port.ts'
import { dataverseConnector } from './dataverse/dataverse-connector.ts'
import { eventsSetting, venuesSetting } from './dataverse/stock-mapping.ts'
import { civicrmConnector } from './civicrm.ts'
import type { Connector } from './connector/marquee-connector.d.ts'
import type { SettingValues } from './context/given-settings.ts'
import { type ShippedContext, openShippedCrm } from './context/shipped-crm.ts'
import { httpConnector } from './http-lists.ts'
import { mappedColumns } from './mapping/list-setting.ts'
import { odooConnector } from './odoo.ts'
import { salesforceConnector } from './salesforce.ts'

type Settings = CrmSettings<'odoo' | 'salesforce' | 'civicrm'>

export function openShipped(
  settings: Settings | CrmSettings<'http' | 'dataverse'>,
  context: ShippedContext,
): Promise<Crm> {
  if (settings.kind === 'dataverse') return openDataverse(settings, context)
  if (settings.kind === 'http') {
    const [connector, values] = httpConnector(settings)
    // Of several paths, the connector gives the rows the first time.
    const { updatedAt: _ofEvents, ...events } = settings.events
    const { updatedAt: _ofVenues, ...venues } = settings.venues
    return openShippedCrm(connector, values, { ...settings, events, venues }, context)
  }
  const [connector, values] = shippedConnector(settings, context.further)
  return openShippedCrm(connector, values, settings, context)
}

/** Opens the connector for Dataverse, whose stock tables are mapped here: it has to know which columns to request. */
function openDataverse(settings: CrmSettings<'dataverse'>, context: ShippedContext): Promise<Crm> {
  const { time } = context
  const { url, authority, tenant, clientId, clientSecret, language, availability } = settings
  const events = eventsSetting(settings.events)
  const venues = venuesSetting(settings.venues)
  const connector = dataverseConnector({
    events,
    venues,
    language,
    readsTickets: availability,
    secretFrom: clientSecret.from,
    nowMs: () => time.now().monotonicMs,
  })
  const values = { url, authority, tenant, clientId, clientSecret }
  return openShippedCrm(
    connector,
    values,
    { ...settings, idNamespace: null, events, venues, givesCells: true },
    context,
  )
}

function shippedConnector(settings: Settings, further = NO_FURTHER): readonly [Connector, SettingValues] {
  const { events, venues } = settings
  const columns = { events: columnsOf(events), venues: columnsOf(venues) }
  switch (settings.kind) {
    case 'odoo': {
      const { url, database, key, user, version, language } = settings
      const own = { events: columns.events.map(firstStep), venues: columns.venues.map(firstStep) }
      const { Id = null, TicketCapacity = null, TicketsAvailable = null } = events?.fields ?? {}
      const seats = columnsOf({ fields: { Id, TicketCapacity, TicketsAvailable } }).map(firstStep)
      const flags = { events: flagColumns(events, further.events), venues: flagColumns(venues, further.venues) }
      const where = settings.venues.where
      const connector = odooConnector({ version, language, venues: where, columns: own, flags, seats })
      return [connector, { url, database, key, ...(version < 19 ? { user: user ?? '' } : {}) }]
    }
    case 'salesforce': {
      const { url, clientId, clientSecret, apiVersion } = settings
      const connector = salesforceConnector({
        apiVersion,
        events: { from: settings.events.from, columns: columnsOf(withName(settings.events)) },
        venues: { from: settings.venues.from, columns: columnsOf(withName(settings.venues)) },
      })
      return [connector, { url, clientId, clientSecret }]
    }
    case 'civicrm':
      return [civicrmConnector({ language: settings.language, columns }), { url: settings.url, key: settings.key }]
    default:
      return unreachable(settings)
  }
}

function columnsOf(said: SaidList | null): readonly string[] {
  const { fields = {}, active = null, showOnWeb = null, updatedAt = null } = said ?? {}
  const columns = mappedColumns({ fields, active, showOnWeb }).map(({ column }) => column)
  return [...new Set(updatedAt === null ? columns : [...columns, updatedAt])]
}

/** Returns the columns in which `false` is a value: a condition names true or false, or a further field is a flag. */
function flagColumns(said: SaidList | null, further: readonly FurtherField[]): readonly string[] {
  const { fields = {}, active, showOnWeb } = said ?? {}
  const sources = Object.entries(fields).flatMap(([name, source]) =>
    source?.kind === 'column' ? [{ name, ...source }] : [],
  )
  const conditions = [active, showOnWeb, ...Object.values(fields).map(onlyWhereOf)].flatMap((parts) => parts ?? [])
  const compared = conditions.filter((part) => {
    const values = 'oneOf' in part ? part.oneOf : 'noneOf' in part ? part.noneOf : []
    return values.some((value) => /^(?:true|false)$/i.test(String(value)))
  })
  const flags = sources.filter(({ name }) => further.some((field) => field.name === name && field.type === 'flag'))
  return [...compared, ...flags].map(({ column }) => column)
}

/** Adds the stock mapping of Name, unless the configuration has another source for it. */
function withName(said: SaidList): SaidList {
  return { ...said, fields: { Name: columnSource('Name'), ...said.fields } }
}

/** Returns the column that a path begins with: APIs are asked for whole columns. */
function firstStep(path: string): string {
  return path.split('.', 1)[0] ?? path
}
