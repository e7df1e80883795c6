// Turns records into bytes (contract §1.3, §3).
// In: a record and a shape. Out: a text, always the same for the same record. domain/body.ts makes the bytes and the ETag.
// This room does not depend on requests or on the lists that are held.
import { type EventRecord, EVENTS } from '../domain/event.ts'
import { type FurtherFields, NO_FURTHER } from '../domain/further.ts'
import { unreachable } from '../domain/unreachable.ts'
import { type VenueRecord, VENUES } from '../domain/venue.ts'
import { halJson, resolveHref, linkObject } from './hal-json.ts'
import { halXml, XML_DECLARATION } from './hal-xml.ts'
import type { Shape } from './media-types.ts'
import { plainJson, linkJson } from './plain-json.ts'
import { plainXml, namespaceOf } from './plain-xml.ts'
import { type ConfiguredLinks, type Resource, Resources } from './resource.ts'
import { type ChangeList, changeList } from './change-list.ts'
import { type TagList, tagList } from './tag-list.ts'
import { type ListName, untitled } from '../domain/field.ts'
import { xmlAttribute } from '../domain/escape.ts'

/** The operator's settings for all representations. */
export interface FormatSettings {
  /** `/` for the root; any other path has no trailing slash. */
  readonly basePath: string
  /** The second-to-last part of the version 1 XML namespace. */
  readonly namespace: string
  readonly links: ConfiguredLinks
  /** The fields that the organisation declared; absent if there are none. */
  readonly further?: FurtherFields
}

/** Formats records as bodies, as a pure function of record, shape and the settings now in force. */
export class Formatter {
  readonly #settings: () => FormatSettings
  readonly #prefix: string
  readonly #resources: Resources
  /** The further fields of the records that this formatter writes. A reload does not change them. */
  readonly further: FurtherFields

  constructor(settings: () => FormatSettings) {
    const { further = NO_FURTHER, basePath } = settings()
    this.#settings = settings
    this.further = further
    this.#resources = new Resources(further)
    this.#prefix = basePath === '/' ? '' : basePath
  }

  event(event: EventRecord, shape: Shape): string {
    return this.#format(this.#resources.event(event, this.#settings().links.event), shape)
  }

  venue(venue: VenueRecord, shape: Shape): string {
    return this.#format(this.#resources.venue(venue, this.#settings().links.venue), shape)
  }

  /** Returns how records stand in a page of a shape, which is the same for all pages. */
  recordFrame(shape: Shape): RecordFrame {
    return RECORD_FRAMES[shape]
  }

  /** Returns the text before and after the records of a page. */
  frame(outline: PageOutline, shape: Shape): PageFrame {
    return pageFrame(shape, outline, this.#settings().namespace, this.#prefix)
  }

  tags(list: TagList, shape: Shape): string {
    return tagList(list, shape, this.#settings().namespace, this.#prefix)
  }

  /** Returns a page of changes as JSON or HAL JSON. */
  changes(list: ChangeList, isHal: boolean): string {
    return changeList(list, isHal, this.#prefix)
  }

  /** Returns the path of one of Marquee's own links, from the root of the host (contract §2.1). */
  pathOf(href: string): string {
    return resolveHref(href, this.#prefix)
  }

  #format(resource: Resource, shape: Shape): string {
    switch (shape) {
      case 'json':
        return plainJson(resource)
      case 'xml':
        return plainXml(resource, this.#settings().namespace)
      case 'hal-json':
        return halJson(resource, this.#prefix)
      case 'hal-xml':
        return halXml(resource, this.#prefix)
      default:
        return unreachable(shape)
    }
  }
}

/** A page of a list without its records. The hrefs are those of plain JSON, `~/events?limit=2`. */
interface PageOutline {
  readonly list: ListName
  readonly self: string
  /** `null` on the last page. */
  readonly next: string | null
  readonly isEmpty: boolean
  /** How many venues follow the events of the page; null if the page holds none by its query (contract §4.4). */
  readonly venues: number | null
}

/** The text around the records of a page. */
interface PageFrame {
  readonly before: string
  /** Between the events and their venues. */
  readonly middle: string
  readonly after: string
}

/** A record of a page is its own representation without the first `skip` bytes (contract §4.2). */
interface RecordFrame {
  readonly between: string
  readonly skip: number
}

const RECORD_FRAMES: Readonly<Record<Shape, RecordFrame>> = {
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
function pageFrame(shape: Shape, outline: PageOutline, namespace: string, basePath: string): PageFrame {
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
