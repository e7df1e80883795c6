import type { Part } from './part.ts'
import { connector } from './parts/connector.ts'
import { churn } from './parts/churn.ts'
import { feeds } from './parts/feeds.ts'
import { fullRead } from './parts/full-read.ts'
import { large } from './parts/large.ts'
import { leak } from './parts/leak.ts'
import { pages } from './parts/pages.ts'
import { servers } from './parts/servers.ts'
import { cluster } from './parts/cluster.ts'
import { sizes } from './parts/sizes.ts'
import { start } from './parts/start.ts'

/** Everything that is measured, in the order of the page. */
export const PARTS: Readonly<Record<string, Part>> = {
  servers,
  large,
  sizes,
  churn,
  pages,
  feeds,
  'full-read': fullRead,
  connector,
  start,
  cluster,
  leak,
}
