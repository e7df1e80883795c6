import type { Link } from '../domain/link.ts'
import { isTemplated } from '../domain/link.ts'
import { jsonString } from './escape.ts'
import { distinctLinks, haveDistinctRels, resolveHref } from './hal-links.ts'
import { jsonFields } from './json-fields.ts'
import type { Resource } from './resource.ts'

/** `application/hal+json`: as plain JSON, but `_links` keyed by Rel in order of first appearance (contract §3). */
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

/** Where one Rel has several links, they are an array in the place of the first. */
function groupedLinks(links: readonly Link[], basePath: string): string {
  // A Map, since an object would sort `10` first and lose `__proto__`.
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
