import type { Link } from '../domain/link.ts'
import { isTemplated } from '../domain/link.ts'
import { jsonString } from './escape.ts'
import { jsonFields } from './json-fields.ts'
import type { Resource } from './resource.ts'

/** `application/json`: one line, fields in declaration order, `_links` an array, `_embedded` null last (contract §3). */
export function plainJson(resource: Resource): string {
  let links = ''
  for (const link of resource.links) links += links === '' ? linkJson(link) : `,${linkJson(link)}`
  return `{${jsonFields(resource)},"_links":[${links}],"_embedded":null}`
}

export function linkJson(link: Link): string {
  const title = link.Title === null ? 'null' : jsonString(link.Title)
  return `{"Rel":${jsonString(link.Rel)},"Href":${jsonString(link.Href)},"Title":${title},"IsTemplated":${isTemplated(link.Href)}}`
}
