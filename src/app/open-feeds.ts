import type { Configuration } from '../config/configuration.ts'
import type { FieldSources } from '../config/crm/sources.ts'
import type { Suspicions } from '../crm/mapping/suspicions.ts'
import { FeedFormatter } from '../formats/feed-formatter.ts'
import { Feeds } from '../http/feeds.ts'
import type { ServedLists } from '../sync/served-list.ts'
import { yieldToEventLoop } from '../time/waiting.ts'
import { HeldPrices } from './held-prices.ts'

interface FeedParts {
  readonly served: () => ServedLists
  /** Tells if the columns of Price exist, once this process has read the events. */
  readonly pricing: Pick<Suspicions, 'readsPrice'>
}

/** Creates the feeds of an instance that has at least one switched on. */
export function openFeeds(configuration: Configuration, { served, pricing }: FeedParts): Feeds {
  const { feeds, listen, representation, timeZone, crm } = configuration
  const saysPrice = mapsPrice(crm)
  const prices = new HeldPrices()
  return new Feeds({
    served,
    formatter: new FeedFormatter({ basePath: listen.basePath, ...representation, calendarName: feeds.calendarName }),
    switches: feeds,
    zone: timeZone,
    hasPrice: () => saysPrice && (pricing.readsPrice ?? prices.heldBy(served().events.list)),
    pause: yieldToEventLoop,
  })
}

/** Whether the configuration maps Price. */
function mapsPrice(crm: Configuration['crm']): boolean {
  if (crm.kind === 'files') {
    const fields = crm.events.block?.fields
    return fields === undefined || (fields.Price !== undefined && isMapped(fields))
  }
  if (crm.kind === 'dataverse' || crm.kind === 'postgres') return isMapped(crm.events.fields)
  // A connector may map it by itself.
  return crm.events?.fields?.Price !== null
}

function isMapped({ Price }: FieldSources): boolean {
  return Price !== null
}
