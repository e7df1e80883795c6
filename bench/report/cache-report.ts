import type { Stores } from '../servers/contestants.ts'
import { cacheCounts } from '../servers/varnish.ts'

const WELL_CACHED = 0.99

/** Reads Varnish's counters; the returned function says in a sentence how many answers came from the cache since. */
export async function cacheReport({ home }: Stores): Promise<() => Promise<string>> {
  const before = home === null ? null : await cacheCounts(home)
  return async () => {
    const after = home === null ? null : await cacheCounts(home)
    if (before === null || after === null) return ''
    const hits = after.hits - before.hits
    const share = hits / (hits + after.misses - before.misses)
    const verdict = share < WELL_CACHED ? ' That is little: its figures are those of nginx behind it, too.' : ''
    const kept = after.nuked === 0 ? 'nothing' : `${after.nuked} objects`
    return `\nVarnish answered ${(share * 100).toFixed(2)} % from its cache, and evicted ${kept}.${verdict}\n`
  }
}
