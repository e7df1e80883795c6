import type { Link } from '../domain/field.ts'
import { xmlAttribute, xmlText } from '../domain/escape.ts'
import type { Resource } from './resource.ts'

const HAL_NAMESPACE = 'http://schemas.datacontract.org/2004/07/WebApi.Hal'
const ARRAYS_NAMESPACE = 'http://schemas.microsoft.com/2003/10/Serialization/Arrays'
const ROOTS = { event: 'EventRepresentation', venue: 'VenueRepresentation' } as const

/**
 * `application/xml`, as DataContractSerializer writes it: one line, inherited members first, fields in ordinal order
 * (contract §3).
 */
export function plainXml(resource: Resource, namespace: string): string {
  const root = ROOTS[resource.rel]
  return (
    `<${root} xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="${namespaceOf(namespace)}">` +
    `<Href xmlns="${HAL_NAMESPACE}">${resource.href}</Href><LinkName xmlns="${HAL_NAMESPACE}">${resource.rel}</LinkName>` +
    `<Links xmlns="${HAL_NAMESPACE}">${linkElements(resource.links)}</Links><Rel xmlns="${HAL_NAMESPACE}">${resource.rel}</Rel>` +
    `${fieldElements(resource)}</${root}>`
  )
}

/** Returns the version 1 namespace as an attribute value. */
export function namespaceOf(part: string): string {
  return xmlAttribute(`http://schemas.datacontract.org/2004/07/${part}.Representations.V1`)
}

function linkElements(links: readonly Link[]): string {
  let elements = ''
  for (const { Rel, Href, Title } of links) {
    const title = Title === null ? '<Title i:nil="true" />' : `<Title>${xmlText(Title)}</Title>`
    elements += `<Link><Href>${xmlText(Href)}</Href><Rel>${xmlText(Rel)}</Rel>${title}</Link>`
  }
  return elements
}

function fieldElements({ fields, ordinal, values }: Resource): string {
  let elements = ''
  for (const index of ordinal) {
    const field = fields[index]
    const value = values[index]
    if (field === undefined || value === undefined) continue
    if (value === null) elements += field.nil
    else if (typeof value === 'object') elements += itemsElement(field.name, value)
    else elements += field.open + (field.type === 'text' ? xmlText(String(value)) : String(value)) + field.close
  }
  return elements
}

function itemsElement(name: string, items: readonly string[]): string {
  if (items.length === 0) return `<${name} xmlns:d2p1="${ARRAYS_NAMESPACE}" />`
  const strings = items.map((item) => `<d2p1:string>${xmlText(item)}</d2p1:string>`)
  return `<${name} xmlns:d2p1="${ARRAYS_NAMESPACE}">${strings.join('')}</${name}>`
}
