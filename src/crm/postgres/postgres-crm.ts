// The PostgreSQL connector, which reads two tables or views. Each read (table-stream.ts) is one transaction on one
// connection (read-session.ts). A notification (listening.ts) only hints that a read is worthwhile.

import { resolve } from 'node:path'
import type { CrmSettings } from '../../config/configuration.ts'
import type { ListName } from '../../domain/field.ts'
import { NO_FURTHER } from '../../domain/further.ts'
import type { Crm } from '../../sync/port.ts'
import type { Connector } from '../connector/marquee-connector.d.ts'
import { openShippedCrm } from '../context/shipped-crm.ts'
import { type ConnectorContext, PLENTY } from '../kit/crm-limits.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import { Opener } from './connection.ts'
import { examineTable } from './examine.ts'
import { listTable } from './list-table.ts'
import { type OnHint, Listening } from './listening.ts'
import { failureIn } from './postgres-failure.ts'
import { ReadSession } from './read-session.ts'
import { TableLane, tableStream } from './table-stream.ts'

/**
 * Opens the connector for two tables or views. It uses up to three connections: one for the refreshes of each list, and
 * one for audits. A refresh only ever waits for its own connection.
 */
export function openPostgresCrm(settings: CrmSettings<'postgres'>, context: ConnectorContext): Promise<Crm> {
  const { url, addressIn, ca, folder, listen, idScanEveryMs, events, venues, idNamespace, timeZone } = settings
  const { limits, time, observe, descriptors = PLENTY, further = NO_FURTHER } = context
  const absolute = (path: string): string => resolve(folder, path)
  const notice = (message: string): void => observe({ kind: 'crm-noticed', message })
  const listening = listen === null ? null : new Listening({ channel: listen, time, notice })
  const opener = new Opener({ url, addressIn, ca, absolute, limits, time, descriptors })
  const sessions = {
    events: new ReadSession(opener),
    // LISTEN runs on the venues' connection: PostgreSQL delivers notifications between transactions, and its
    // transactions are shorter than those of the events.
    venues: new ReadSession(opener, listening === null ? null : listening.greet.bind(listening)),
    audits: new ReadSession(opener),
  }
  const tables = {
    events: listTable(EVENT_ROWS.table, events, further.events),
    venues: listTable(VENUE_ROWS.table, venues, further.venues),
  }
  const hints: Record<ListName, Set<OnHint>> = { events: new Set(), venues: new Set() }
  // A new connection may be to another server, whose rows may differ without a newer time of change.
  const compare = (...lists: readonly ListName[]): void => {
    for (const list of lists) for (const hint of hints[list]) hint('all')
  }
  sessions.events.onReplaced = () => compare('events')
  sessions.venues.onReplaced = () => compare('venues')
  sessions.audits.onReplaced = () => compare('events', 'venues')
  let isTested = false
  const testOnce = async (): Promise<void> => {
    if (!isTested) await listening?.test(sessions.venues, sessions.audits)
    isTested = true
  }
  function watch(list: ListName, onHint: OnHint): () => void {
    void testOnce()
    hints[list].add(onHint)
    const end = listening?.subscribe(onHint, sessions.venues)
    return () => {
      hints[list].delete(onHint)
      end?.()
    }
  }
  const lanes = {
    events: new TableLane(tables.events, sessions.events),
    venues: new TableLane(tables.venues, sessions.venues),
  }
  const streamOf = (list: ListName): Connector['events'] => {
    const audits = new TableLane(tables[list], sessions.audits)
    return tableStream(tables[list], { refreshes: lanes[list], audits }, (onHint) => watch(list, onHint))
  }
  const connector: Connector = {
    api: 2,
    events: streamOf('events'),
    venues: streamOf('venues'),
    async check() {
      const warnings: string[] = []
      for (const list of ['events', 'venues'] as const) {
        try {
          const { transaction, known } = await lanes[list].open()
          try {
            for await (const warning of examineTable(transaction, known, tables[list])) warnings.push(warning)
          } finally {
            await transaction.end()
          }
        } catch (cause) {
          warnings.push(`${tables[list].written} could not be examined: ${failureIn(cause).message}`)
        }
      }
      await testOnce()
      return warnings
    },
    async close() {
      listening?.close()
      await Promise.all(Object.values(sessions).map((session) => session.close()))
    },
  }
  const { from: eventsFrom, updatedAt: _ofEvents, updatedAtIn: _eventsIn, ...saidOfEvents } = events
  const { from: venuesFrom, updatedAt: _ofVenues, updatedAtIn: _venuesIn, ...saidOfVenues } = venues
  return openShippedCrm(
    connector,
    {},
    {
      kind: 'postgres',
      idNamespace,
      timeZone,
      events: saidOfEvents,
      venues: saidOfVenues,
      from: { events: eventsFrom, venues: venuesFrom },
      availability: null,
      // Computed at each use, since a reload may change the maximum age.
      compareEveryMs: () => idScanEveryMs ?? Math.floor(limits().maxAgeMs / 2),
      givesCells: true,
      proxy: null,
      ca: null,
      allowInsecure: false,
    },
    { ...context, env: {}, openHttpClient: NO_HTTP },
  )
}

function NO_HTTP(): never {
  throw new Error('a database is not read over HTTP')
}
