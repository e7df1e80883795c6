import type { Link } from '../domain/link.ts'

/** Whether no two links share a Rel, as nearly always: then none is equal to another and none needs an array. */
export function haveDistinctRels(links: readonly Link[]): boolean {
  // Few are compared pair by pair, which allocates nothing.
  if (links.length > FEW) return new Set(links.map((link) => link.Rel)).size === links.length
  for (let later = 1; later < links.length; later++) {
    for (let earlier = 0; earlier < later; earlier++) if (links[earlier]?.Rel === links[later]?.Rel) return false
  }
  return true
}

const FEW = 8

/** The links HAL shows: those of equal Rel and Href, compared ordinally as given, once, the first one (contract §3). */
export function distinctLinks(links: readonly Link[]): readonly Link[] {
  if (haveDistinctRels(links)) return links
  const seen = new Map<string, Set<string>>()
  return links.filter(({ Rel, Href }) => {
    const hrefs = seen.get(Rel)
    if (hrefs === undefined) {
      seen.set(Rel, new Set([Href]))
      return true
    }
    if (hrefs.has(Href)) return false
    hrefs.add(Href)
    return true
  })
}

/** `href` as HAL writes it: `~/` becomes `/` after the configured base path (contract §2.1). */
export function resolveHref(href: string, basePath: string): string {
  return href.startsWith('~/') ? `${basePath}${href.slice(1)}` : href
}
