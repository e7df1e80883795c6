import type { Configuration } from '../config/configuration.ts'
import type { Observation } from '../observe/observation.ts'
import type { CrmFailure } from '../replica/port.ts'
import { systemTime } from '../replica/time.ts'
import type { Marquee } from './assemble.ts'
import { assemble } from './assemble.ts'

export interface CrmRead {
  readonly marquee: Marquee
  /** One a list that could not be read. */
  readonly failures: readonly { readonly list: 'events' | 'venues'; readonly failure: CrmFailure }[]
  readonly observations: readonly Observation[]
  /** What the CRM lets an operator know though it can be read. */
  readonly warnings: readonly string[]
}

/** Reads both lists of the CRM in full, once, and serves nothing. */
export async function readCrm(configuration: Configuration): Promise<CrmRead> {
  const observations: Observation[] = []
  const marquee = await assemble(configuration, systemTime, (observation) => void observations.push(observation))
  const { venues, events } = marquee.replica
  const venuesRead = await venues.refresh.attempt()
  const eventsRead = await events.refresh.attempt()
  const examined = eventsRead.ok && venuesRead.ok ? await marquee.crm.examine?.() : undefined
  await marquee.crm.close()
  const failures: { list: 'events' | 'venues'; failure: CrmFailure }[] = []
  if (!eventsRead.ok) failures.push({ list: 'events', failure: eventsRead.failure })
  if (!venuesRead.ok) failures.push({ list: 'venues', failure: venuesRead.failure })
  return { marquee, failures, observations, warnings: examined?.warnings ?? [] }
}
