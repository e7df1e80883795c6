import type { CrmSettings } from '../config/configuration.ts'
import type { Guid } from '../domain/guid.ts'
import { uuidV5 } from './mapping/ids.ts'

/** The ids that a record is known by here, for the CRM's own id: the event's, then the venue's. */
export type IdsOf = (crmId: string) => readonly Guid[]

/** Null where the CRM's ids are GUIDs, and so are known by themselves. */
export function idsOf(crm: CrmSettings): IdsOf | null {
  if (crm.kind !== 'postgres' || crm.idNamespace === null) return null
  const { idNamespace, events, venues } = crm
  return (crmId) => [events.from, venues.from].map((from) => uuidV5(idNamespace, `${from}/${crmId}`))
}
