import { readFileSync } from 'node:fs'
import Negotiator from 'negotiator'
import { MEDIA_TYPES } from '../../src/formats/media-types.ts'

/** Shared by the two framework apps: the lists in a Map; each answer is rendered on request. */
export interface Row {
  readonly Id: string
  readonly Name: string
  readonly VenueId: string
  readonly TicketCapacity: number
  readonly TicketsAvailable: number
  readonly Start: string
  readonly Finish: string
  readonly Price: string
  readonly Tags: readonly string[]
  readonly Links: readonly { readonly Rel: string; readonly Href: string; readonly Title: string | null }[]
}

export function loadRows(file: string): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue
    const row = JSON.parse(line) as Row
    rows.set(row.Id, row)
  }
  return rows
}

export function render(row: Row, accept: string | undefined): { type: string; body: string } {
  const type = new Negotiator({ headers: { accept } }).mediaType([...MEDIA_TYPES]) ?? 'application/json'
  if (type.endsWith('hal+json')) return { type, body: halJson(row) }
  if (type.endsWith('hal+xml')) return { type, body: halXml(row) }
  return { type, body: type.endsWith('json') ? plainJson(row) : plainXml(row) }
}

function linksOf(row: Row): Row['Links'] {
  const self = `/events/${row.Id}`
  return [{ Rel: 'self', Href: self, Title: null }, { Rel: 'venue', Href: `${self}/venue`, Title: null }, ...row.Links]
}

function plainJson(row: Row): string {
  const { Links: _, ...fields } = row
  return JSON.stringify({ ...fields, Price: Number(row.Price), _links: linksOf(row), _embedded: null })
}

function halJson(row: Row): string {
  const { Links: _, ...fields } = row
  const links = Object.fromEntries(
    linksOf(row).map(({ Rel, Href, Title }) => [Rel, Title === null ? { href: Href } : { href: Href, title: Title }]),
  )
  return JSON.stringify({ ...fields, Price: Number(row.Price), _links: links })
}

function plainXml(row: Row): string {
  const links = linksOf(row).map(
    ({ Rel, Href, Title }) =>
      `<Link><Href>${escape(Href)}</Href><Rel>${escape(Rel)}</Rel><Title>${escape(Title ?? '')}</Title></Link>`,
  )
  const tags = row.Tags.map((tag) => `<string>${escape(tag)}</string>`)
  return `<Event><Links>${links.join('')}</Links>${scalars(row).join('')}<Tags>${tags.join('')}</Tags></Event>`
}

function halXml(row: Row): string {
  const links = linksOf(row).map(({ Rel, Href }) => `  <link rel="${escape(Rel)}" href="${escape(Href)}" />`)
  return `<?xml version="1.0" encoding="utf-8"?>\n<resource rel="event" href="/events/${row.Id}">\n${[...links, ...scalars(row)].join('\n')}\n</resource>`
}

function scalars(row: Row): string[] {
  return Object.entries(row).flatMap(([name, value]) =>
    typeof value === 'object' ? [] : [`<${name}>${escape(String(value))}</${name}>`],
  )
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
