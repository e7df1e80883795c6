import { clockText } from '../domain/date-time.ts'
import { xmlAttribute, xmlText } from '../domain/escape.ts'
import { distinctLinks, resolveHref } from './hal-json.ts'
import type { Resource } from './resource.ts'

/** The first line. A record within a list omits it (contract §4.2). */
export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'

/**
 * `application/hal+xml`: indented; links except `self` as elements, then the scalar fields in declaration order
 * (contract §3).
 */
export function halXml(resource: Resource, basePath: string): string {
  const self = resolveHref(resource.href, basePath)
  let lines = `${XML_DECLARATION}<resource rel="${resource.rel}" href="${xmlAttribute(self)}" name="${resource.rel}">\n`
  for (const { Rel, Href, Title } of distinctLinks(resource.links)) {
    if (Rel === 'self') continue
    const title = Title ? ` title="${xmlAttribute(Title)}"` : ''
    lines += `  <link rel="${xmlAttribute(Rel)}" href="${xmlAttribute(resolveHref(Href, basePath))}"${title} />\n`
  }
  return `${lines}${fieldLines(resource)}</resource>`
}

function fieldLines({ fields, values }: Resource): string {
  let lines = ''
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]
    const value = values[index]
    if (field === undefined || value === undefined || field.type === 'tags') continue
    const text = value !== null && field.type === 'date-time' ? clockText(String(value)) : String(value ?? '')
    lines += text === '' ? `  ${field.empty}\n` : `  ${field.open}${xmlText(text)}${field.close}\n`
  }
  return lines
}
