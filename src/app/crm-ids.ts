import type { Configuration } from '../config/configuration.ts'
import type { Guid } from '../domain/guid.ts'
import { crmIds } from '../domain/named-ids.ts'

/** The ids that a record with this CRM id has in Marquee: as an event, then as a venue. */
export type IdsOf = (crmId: string) => readonly Guid[]

/** Returns the conversion from CRM ids; `null` if they are GUIDs and stay unchanged. */
export function idsOf(crm: Configuration['crm']): IdsOf | null {
  const names = crm.idNames()
  if (names === null || !('idNamespace' in crm) || crm.idNamespace === null) return null
  const { idNamespace } = crm
  const conversions = names.map((from) => crmIds(idNamespace, from))
  return (crmId) => conversions.map((idOf) => idOf(crmId))
}
