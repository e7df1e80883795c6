import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Zone } from '../../domain/zone.ts'
import type { CrmTraits, General } from '../general.ts'
import { section } from '../key.ts'
import { NAME, duration, flag, guid, path, proxyUrl, text, timeZone } from '../values.ts'
import { fieldSources } from './field-sources.ts'
import { type SaidList, isLowestPrice } from './sources.ts'
import { condition } from './condition.ts'

const columns = {
  active: condition('Which rows are active; null means all.').override('the connector’s own, else all'),
  updatedAt: text('the name of a column, or a path', NAME)
    .orNull()
    .override('the connector’s own, else none')
    .says('The time of a row’s last change, as a column or a path such as `meta.changed`.'),
}
const { active } = columns

/** The keys of each list, without `updatedAt`: the connector's requests use a fixed column for the time of a change. */
export const keysByOwnTime = {
  events: {
    active,
    showOnWeb: condition('Which events are shown; null means all.').override('the connector’s own, else all'),
    fields: fieldSources(EVENTS, { labels: false, mayLackFurther: true }).override('the connector’s own'),
  },
  venues: {
    active,
    fields: fieldSources(VENUES, { labels: false, mayLackFurther: true }).override('the connector’s own'),
  },
}

/** The keys of each list. */
export const listKeys = {
  events: { ...columns, ...keysByOwnTime.events },
  venues: { ...columns, ...keysByOwnTime.venues },
}

/** The time limit of an exchange with the CRM. */
export const requestTimeout = duration({ leastMs: 10 }).optional('a third of the maximum age, at most `10s`')

/** The keys of connectors that ask a web API. */
export const webKeys = {
  proxy: proxyUrl()
    .optional('`HTTPS_PROXY` and `NO_PROXY`')
    .says('The forward proxy for all requests; `NO_PROXY` is then ignored.'),
  ca: path('the path of a PEM file').optional().says('Additional certificates to trust.'),
  allowInsecure: flag().default(false).says('Whether `http:` to other machines is allowed.'),
}

/** The keys that every connector has, besides its own and its lists. */
export const commonKeys = {
  idNamespace: guid()
    .optional()
    .says('For ids that are not UUIDs: they become UUIDv5 of this namespace and `<list>/<id>`.'),
  timeZone: timeZone().optional('the `timeZone` above').says('The zone of dates without an offset.'),
  requestTimeout: requestTimeout.says('The time limit of one request.'),
  availability: flag()
    .optional('on, if the connector has such a read')
    .says('Whether each refresh also reads TicketsAvailable and TicketCapacity of all events.'),
}

/** The lists of a connector that has its own mapping. */
export const connectorLists = {
  events: section(listKeys.events)
    .optional('the connector’s own')
    .says('Settings that override the connector’s own for events.'),
  venues: section(listKeys.venues)
    .optional('the connector’s own')
    .says('Settings that override the connector’s own for venues.'),
}

/** The keys of connectors that bring their own mapping. */
export const connectorKeys = { ...commonKeys, ...connectorLists }

interface ConnectorBlock {
  readonly kind: string
  readonly idNamespace: Guid | null
  readonly timeZone: Zone | null
  readonly events: Pick<SaidList, 'fields'> | null
  readonly venues: unknown
}

/**
 * Returns the settings of a connector that has its own mapping.
 * @param ownShaping the connector's own settings that shape records
 */
export function settingsOfConnector<Block extends ConnectorBlock>(
  ownShaping: (block: Block) => Readonly<Record<string, unknown>>,
): (block: Block) => (general: General) => Block & { readonly timeZone: Zone } & CrmTraits {
  return (block) => (general) => {
    const { kind, idNamespace, events, venues } = block
    const zone = { timeZone: block.timeZone ?? general.timeZone }
    return {
      ...block,
      ...zone,
      shaping: () => ({ kind, ...ownShaping(block), idNamespace, events, venues, ...zone }),
      idNames: () => ['events', 'venues'],
      isLowestPrice: () => isLowestPrice(events?.fields),
    }
  }
}
