import type { PostgresCrm } from '../../config/crm/postgres.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Crm, CrmFailure, Examination } from '../../replica/port.ts'
import type { Time } from '../../replica/time.ts'
import { ChangeListener } from './change-listener.ts'
import { warningsAbout } from './examine.ts'
import { Fault } from './fault.ts'
import { eventsTable, venuesTable } from './list-tables.ts'
import { Opener } from './opener.ts'
import { ReadSession } from './read-session.ts'
import { Suspects } from './suspects.ts'
import { TableSource } from './table-source.ts'

export interface PostgresSurroundings {
  /** What dates are shown in. */
  readonly showIn: Zone
  readonly requestTimeoutMs: number
  readonly patienceMs: number
  readonly time: Time
}

/** Two tables or views of a database: one connection for reads, and one to listen where there is a channel. */
export function openPostgresCrm(
  { url, ca, absolute, listen, sweepEveryMs, events, venues, idNamespace, timeZone }: PostgresCrm,
  { showIn, requestTimeoutMs, patienceMs, time }: PostgresSurroundings,
): Crm {
  const opener = new Opener({ url, ca, absolute, requestTimeoutMs, time })
  const session = new ReadSession(opener, time, requestTimeoutMs)
  const suspects = { events: new Suspects(), venues: new Suspects() }
  const onPayload = (payload: string): void => {
    suspects.events.add(payload)
    suspects.venues.add(payload)
  }
  const listener = listen === null ? null : new ChangeListener(opener, listen, time, onPayload)
  const onHint = (callback: () => void): void => listener?.onHint(callback)
  const mapping = { idNamespace, venuesFrom: venues.from, zone: timeZone, showIn }
  const [eventsList, venuesList] = [eventsTable(events, mapping), venuesTable(venues, mapping)]
  const shared = { session, time, sweepEveryMs, patienceMs, onHint }
  const sources = {
    events: new TableSource({ ...shared, list: eventsList, suspects: suspects.events }),
    venues: new TableSource({ ...shared, list: venuesList, suspects: suspects.venues }),
  }

  async function examine(): Promise<Examination> {
    const failures: (CrmFailure | null)[] = [await sources.events.look(), await sources.venues.look()]
    const problems = failures.filter((failure) => failure !== null)
    if (problems.length > 0) return { problems, warnings: [] }
    const transaction = await session.begin()
    if (transaction instanceof Fault) return { problems: [transaction.failure], warnings: [] }
    const warnings: string[] = []
    for (const { name, table, changedAt } of [eventsList, venuesList]) {
      const found = await warningsAbout(transaction, { key: name, table, changedAt })
      if (!(found instanceof Fault)) warnings.push(...found)
    }
    const isStandby = await transaction.query('SELECT pg_is_in_recovery()')
    await transaction.end()
    if (listen !== null && !(isStandby instanceof Fault) && isStandby.rows[0]?.[0] === 't') {
      warnings.push('the server is a standby, which cannot LISTEN: changes are seen with the next refresh')
    }
    return { problems, warnings }
  }

  return {
    ...sources,
    examine,
    async close() {
      await Promise.all([listener?.close(), session.close()])
    },
  }
}
