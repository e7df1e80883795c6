import type { Configuration } from '../config/configuration.ts'
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
  const prices = new HeldPrices()
  return new Feeds({
    served,
    formatter: new FeedFormatter({ basePath: listen.basePath, ...representation, calendarName: feeds.calendarName }),
    switches: feeds,
    zone: timeZone,
    hasPrice: () => crm.mapsPrice() && (pricing.readsPrice ?? prices.heldBy(served().events.list)),
    pause: yieldToEventLoop,
  })
}
