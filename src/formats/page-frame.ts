import { EVENTS } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import { untitled } from '../domain/link.ts'
import { unreachable } from '../domain/unreachable.ts'
import { VENUES } from '../domain/venue.ts'
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

/** The text around the records of a page. */
export interface PageFrame {
  readonly before: string
  /** Between the events and their venues. */
  readonly middle: string
  readonly after: string
}

/** A record of a page is its own representation without the first `skip` bytes (contract §4.2). */
export interface RecordFrame {
  readonly between: string
  readonly skip: number
}

export const RECORD_FRAMES: Readonly<Record<Shape, RecordFrame>> = {
  json: { between: ',', skip: 0 },
  'hal-json': { between: ',', skip: 0 },
  xml: { between: '', skip: 0 },
  'hal-xml': { between: '\n', skip: XML_DECLARATION.length },
}

const TABLES = { events: EVENTS, venues: VENUES }

const ROOTS = { events: 'ArrayOfEventRepresentation', venues: 'ArrayOfVenueRepresentation' }

/**
 * Returns the text before and after the records, for each of the four shapes (contract §4.2). `basePath` is empty for
 * the root.
 */
export function pageFrame(shape: Shape, outline: PageOutline, namespace: string, basePath: string): PageFrame {
  const { list, self, next, isEmpty, venues } = outline
  const { member, kind: rel } = TABLES[list]
  const root = ROOTS[list]
  const links = next === null ? [untitled('self', self)] : [untitled('self', self), untitled('next', next)]
  switch (shape) {
    case 'json':
      return {
        before: `{"${member}":[`,
        middle: venues === null ? '' : `],"${VENUES.member}":[`,
        after: `],"_links":[${links.map(linkJson).join(',')}],"_embedded":null}`,
      }
    case 'hal-json': {
      const members = links.map((each) => `"${each.Rel}":${linkObject(each, basePath)}`)
      return {
        before: `{"_links":{${members.join(',')}},"_embedded":{"${rel}":[`,
        middle: venues === null ? '' : `],"${VENUES.kind}":[`,
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
