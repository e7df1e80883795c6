// Two tables or views of PostgreSQL. A read (table-source.ts) is one transaction on a lane (lane.ts), which is one connection:
// changes by their stamps, an id scan of all ids and stamps now and then, or all rows (reads.ts). Notifications are hints
// (listening.ts), and name rows that may be gone (suspects.ts).

import { resolve } from 'node:path'
import type { PostgresSettings } from '../../config/crm/postgres.ts'
import type { Crm, Examination } from '../../sync/port.ts'
import type { ConnectorSurroundings } from '../kit/crm-limits.ts'
import { PLENTY } from '../kit/file-descriptors.ts'
import { listSuspicions } from '../mapping/suspicions.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import { ReadSession } from './read-session.ts'
import { listTable } from './list-table.ts'
import { Listening } from './listening.ts'
import { Opener } from './opener.ts'
import { Suspects } from './suspects.ts'
import { TableSource } from './table-source.ts'

/**
 * Two tables or views of a database, over three connections at most: one for the refreshes of each list, one for audits. A list
 * that waits for the other waits for its refreshes, and those for nobody's connection but their own.
 */
export function openPostgresCrm(
  { url, ca, folder, listen, idScanEveryMs, events, venues, idNamespace, timeZone }: PostgresSettings,
  { showIn, limits, time, observe, descriptors = PLENTY, suspicions = listSuspicions() }: ConnectorSurroundings,
): Crm {
  const absolute = (path: string): string => resolve(folder, path)
  const notice = (message: string): void => observe({ kind: 'crm-noticed', message })
  const suspects = { events: new Suspects(), venues: new Suspects() }
  const onPayload = (payload: string): void => {
    suspects.events.add(payload)
    suspects.venues.add(payload)
  }
  const listening = listen === null ? null : new Listening({ channel: listen, time, onPayload, notice })
  const opener = new Opener({ url, ca, absolute, limits, time, descriptors })
  const eventsSession = new ReadSession(opener)
  // Venues are fewer and their transactions shorter, so notifications wait less behind them.
  const venuesSession = new ReadSession(opener, listening === null ? null : listening.greet.bind(listening))
  const auditSession = new ReadSession(opener)
  let isTested = false
  function onHint(callback: () => void): () => void {
    if (!isTested) void listening?.test(venuesSession, auditSession)
    isTested = true
    return listening?.hints.add(callback) ?? (() => {})
  }
  const mapping = { idNamespace, venuesFrom: venues.from, zone: timeZone, showIn, lists: 'text' } as const
  // Half of the maximum age that holds now.
  const idScansEveryMs = (): number => idScanEveryMs ?? Math.floor(limits.maxAgeMs / 2)
  const shared = { auditSession, time, idScansEveryMs, limits, onHint, notice }
  const sources = {
    events: new TableSource({
      ...shared,
      list: listTable(EVENT_ROWS, events, { ...mapping, suspicions: suspicions.events }),
      lane: eventsSession,
      suspects: suspects.events,
    }),
    venues: new TableSource({
      ...shared,
      list: listTable(VENUE_ROWS, venues, { ...mapping, suspicions: suspicions.venues }),
      lane: venuesSession,
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
