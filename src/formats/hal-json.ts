import { type Link, isTemplated } from '../domain/field.ts'
import { jsonString } from '../domain/escape.ts'
import { jsonFields } from './plain-json.ts'
import type { Resource } from './resource.ts'

/**
 * `application/hal+json`: like plain JSON, but `_links` is an object by Rel, in order of first appearance (contract
 * §3).
 */
export function halJson(resource: Resource, basePath: string): string {
  const links = haveDistinctRels(resource.links)
    ? linkMembers(resource.links, basePath)
    : groupedLinks(resource.links, basePath)
  return `{${jsonFields(resource)},"_links":{${links}}}`
}

function linkMembers(links: readonly Link[], basePath: string): string {
  let members = ''
  for (const link of links) {
    members += `${members === '' ? '' : ','}${jsonString(link.Rel)}:${linkObject(link, basePath)}`
  }
  return members
}

/** Several links with the same Rel become an array at the position of the first. */
function groupedLinks(links: readonly Link[], basePath: string): string {
  // A Map, because an object would sort `10` first and lose `__proto__`.
  const byRel = new Map<string, string[]>()
  for (const link of distinctLinks(links)) {
    const objects = byRel.get(link.Rel)
    if (objects) objects.push(linkObject(link, basePath))
    else byRel.set(link.Rel, [linkObject(link, basePath)])
  }
  const members = Array.from(byRel, ([rel, objects]) => {
    const value = objects.length === 1 ? objects.join('') : `[${objects.join(',')}]`
    return `${jsonString(rel)}:${value}`
  })
  return members.join(',')
}

export function linkObject(link: Link, basePath: string): string {
  const templated = isTemplated(link.Href) ? ',"templated":true' : ''
  const title = link.Title ? `,"title":${jsonString(link.Title)}` : ''
  return `{"href":${jsonString(resolveHref(link.Href, basePath))}${templated}${title}}`
}

/** Returns true if no two links share a Rel, as is usual. No link is a duplicate then, and no Rel needs an array. */
function haveDistinctRels(links: readonly Link[]): boolean {
  // Short lists are compared pair by pair, which allocates nothing.
  if (links.length > FEW) return new Set(links.map((link) => link.Rel)).size === links.length
  for (let later = 1; later < links.length; later++) {
    for (let earlier = 0; earlier < later; earlier++) if (links[earlier]?.Rel === links[later]?.Rel) return false
  }
  return true
}

const FEW = 8

/**
 * Returns the links that HAL shows: the first of those with equal Rel and Href, compared ordinally as given (contract
 * §3).
 */
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

/** Returns `href` as HAL writes it: `~/` becomes `/` after the base path (contract §2.1). */
export function resolveHref(href: string, basePath: string): string {
  return href.startsWith('~/') ? `${basePath}${href.slice(1)}` : href
}
