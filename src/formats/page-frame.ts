import type { ListName } from '../domain/field.ts'
import { untitled } from '../domain/link.ts'
import { unreachable } from '../domain/unreachable.ts'
import { xmlAttribute } from '../domain/escape.ts'
import { linkObject, resolveHref } from './hal-json.ts'
import { XML_DECLARATION } from './hal-xml.ts'
import type { Shape } from './media-types.ts'
import { linkJson } from './plain-json.ts'
import { namespaceOf } from './plain-xml.ts'

/** A page of a list without its records. The hrefs are those of plain JSON, `~/events?limit=2`. */
export interface PageOutline {
  readonly list: ListName
  readonly self: string
  /** `null` on the last page. */
  readonly next: string | null
  readonly isEmpty: boolean
  /** How many venues follow the events of the page; null if the page holds none by its query (contract §4.4). */
  readonly venues: number | null
}

/** The text around the records of a page. Each record is its own representation without the first `skip` bytes. */
export interface PageFrame {
  readonly before: string
  readonly between: string
  /** Between the events and their venues. */
  readonly middle: string
  readonly after: string
  readonly skip: number
}

/** Returns the bytes that a record omits within a list, and the text between two records (contract §4.2). */
export function recordsOf(shape: Shape): Pick<PageFrame, 'between' | 'skip'> {
  return RECORDS[shape]
}

const RECORDS: Readonly<Record<Shape, Pick<PageFrame, 'between' | 'skip'>>> = {
  json: { between: ',', skip: 0 },
  'hal-json': { between: ',', skip: 0 },
  xml: { between: '', skip: 0 },
  'hal-xml': { between: '\n', skip: XML_DECLARATION.length },
}

/** The names in the pages of each list. */
export const PAGE_WORDS = {
  events: { member: 'Events', rel: 'event', root: 'ArrayOfEventRepresentation' },
  venues: { member: 'Venues', rel: 'venue', root: 'ArrayOfVenueRepresentation' },
} as const

/**
 * Returns the text before and after the records, for each of the four shapes (contract §4.2). `basePath` is empty for
 * the root.
 */
export function pageFrame(
  shape: Shape,
  outline: PageOutline,
  namespace: string,
  basePath: string,
): Pick<PageFrame, 'before' | 'middle' | 'after'> {
  const { list, self, next, isEmpty, venues } = outline
  const { member, rel, root } = PAGE_WORDS[list]
  const links = next === null ? [untitled('self', self)] : [untitled('self', self), untitled('next', next)]
  switch (shape) {
    case 'json':
      return {
        before: `{"${member}":[`,
        middle: venues === null ? '' : `],"${PAGE_WORDS.venues.member}":[`,
        after: `],"_links":[${links.map(linkJson).join(',')}],"_embedded":null}`,
      }
    case 'hal-json': {
      const members = links.map((each) => `"${each.Rel}":${linkObject(each, basePath)}`)
      return {
        before: `{"_links":{${members.join(',')}},"_embedded":{"${rel}":[`,
        middle: venues === null ? '' : `],"${PAGE_WORDS.venues.rel}":[`,
        after: ']}}',
      }
    }
    case 'xml': {
      const open = `<${root} xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="${namespaceOf(namespace)}"`
      const [before, after] = isEmpty ? [`${open} />`, ''] : [`${open}>`, `</${root}>`]
      return { before, middle: '', after }
    }
    case 'hal-xml': {
      const href = (given: string): string => xmlAttribute(resolveHref(given, basePath))
      const more = next === null ? '' : `  <link rel="next" href="${href(next)}" />\n`
      return {
        before: `${XML_DECLARATION}<resource rel="${list}" href="${href(self)}" name="${list}">\n${more}`,
        middle: venues === null || venues === 0 ? '' : '\n',
        after: isEmpty ? '</resource>' : '\n</resource>',
      }
    }
    default:
      return unreachable(shape)
  }
}
