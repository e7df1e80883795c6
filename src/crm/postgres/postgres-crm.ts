// The PostgreSQL connector, which reads two tables or views. Each read (table-source.ts) is one transaction on one
// connection (read-session.ts). It reads the changes by updatedAt, with an occasional id scan, or all rows. A
// notification (listening.ts) only hints that a read is worthwhile; it may name deleted rows.

import { resolve } from 'node:path'
import type { CrmSettings } from '../../config/configuration.ts'
import type { Crm, Examination } from '../../sync/port.ts'
import { type ConnectorContext, PLENTY, listContexts } from '../kit/crm-limits.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import { ReadSession } from './read-session.ts'
import { listTable } from './list-table.ts'
import { Listening, SuspectQueue } from './listening.ts'
import { Opener } from './connection.ts'
import { TableSource } from './table-source.ts'

/**
 * Opens the connector for two tables or views. It uses up to three connections: one for the refreshes of each list, and
 * one for audits. A refresh only ever waits for its own connection.
 */
export function openPostgresCrm(
  { url, addressIn, ca, folder, listen, idScanEveryMs, events, venues, idNamespace, timeZone }: CrmSettings<'postgres'>,
  { limits, time, observe, descriptors = PLENTY, ...context }: ConnectorContext,
): Crm {
  const absolute = (path: string): string => resolve(folder, path)
  const notice = (message: string): void => observe({ kind: 'crm-noticed', message })
  const suspects = { events: new SuspectQueue(), venues: new SuspectQueue() }
  const onPayload = (payload: string): void => {
    suspects.events.add(payload)
    suspects.venues.add(payload)
  }
  const listening = listen === null ? null : new Listening({ channel: listen, time, onPayload, notice })
  const opener = new Opener({ url, addressIn, ca, absolute, limits, time, descriptors })
  const eventsSession = new ReadSession(opener, 'events')
  // LISTEN runs on the venues' connection: PostgreSQL delivers notifications between transactions, and its
  // transactions are shorter than those of the events.
  const venuesSession = new ReadSession(opener, 'venues', listening === null ? null : listening.greet.bind(listening))
  const auditSession = new ReadSession(opener, 'audits')
  let isTested = false
  function onHint(callback: () => void): () => void {
    if (!isTested) void listening?.test(venuesSession, auditSession)
    isTested = true
    return listening?.subscribe(callback, venuesSession) ?? (() => {})
  }
  const contexts = listContexts(context)
  const mapping = { idNamespace, venuesFrom: venues.from, zone: timeZone, lists: 'text' } as const
  // Computed at each use, since a reload may change the maximum age.
  const idScansEveryMs = (): number => idScanEveryMs ?? Math.floor(limits.maxAgeMs / 2)
  const shared = { auditSession, time, idScansEveryMs, limits, onHint, notice }
  const sources = {
    events: new TableSource({
      ...shared,
      list: listTable(EVENT_ROWS, events, { ...mapping, ...contexts.events }),
      session: eventsSession,
      suspects: suspects.events,
    }),
    venues: new TableSource({
      ...shared,
      list: listTable(VENUE_ROWS, venues, { ...mapping, ...contexts.venues }),
      session: venuesSession,
      suspects: suspects.venues,
    }),
  }

  async function examine(): Promise<Examination> {
    const lists = [await sources.events.examine(), await sources.venues.examine()]
    await listening?.test(venuesSession, auditSession)
    return { problems: lists.flatMap(({ problems }) => problems), warnings: lists.flatMap(({ warnings }) => warnings) }
  }

  return {
    ...sources,
    examine,
    async close() {
      listening?.close()
      await Promise.all([eventsSession.close(), venuesSession.close(), auditSession.close()])
    },
  }
}
