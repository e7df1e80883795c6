// Turns records into bytes (contract §1.3, §3).
// In: a record and a shape. Out: a text, always the same for the same record. domain/body.ts makes the bytes and the ETag.
// This room does not depend on requests or on the lists that are held.
import type { EventRecord } from '../domain/event.ts'
import { type FurtherFields, NO_FURTHER } from '../domain/further.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { halJson, resolveHref } from './hal-json.ts'
import { halXml } from './hal-xml.ts'
import type { Shape } from './media-types.ts'
import { type PageFrame, type PageOutline, pageFrame, RECORD_FRAMES, type RecordFrame } from './page-frame.ts'
import { plainJson } from './plain-json.ts'
import { plainXml } from './plain-xml.ts'
import { type ConfiguredLinks, type Resource, Resources } from './resource.ts'

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

/** Formats records as bodies, as a pure function of record, shape and settings. */
export class Formatter {
  readonly #settings: FormatSettings
  readonly #prefix: string
  readonly #resources: Resources
  /** The further fields of the records that this formatter writes. A reload does not change them. */
  readonly further: FurtherFields

  constructor(settings: FormatSettings) {
    this.#settings = settings
    this.further = settings.further ?? NO_FURTHER
    this.#resources = new Resources(this.further)
    this.#prefix = settings.basePath === '/' ? '' : settings.basePath
  }

  event(event: EventRecord, shape: Shape): string {
    return this.#format(this.#resources.event(event, this.#settings.links.event), shape)
  }

  venue(venue: VenueRecord, shape: Shape): string {
    return this.#format(this.#resources.venue(venue, this.#settings.links.venue), shape)
  }

  /** Returns how records stand in a page of a shape, which is the same for all pages. */
  recordFrame(shape: Shape): RecordFrame {
    return RECORD_FRAMES[shape]
  }

  /** Returns the text before and after the records of a page. */
  frame(outline: PageOutline, shape: Shape): PageFrame {
    return pageFrame(shape, outline, this.#settings.namespace, this.#prefix)
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
        return plainXml(resource, this.#settings.namespace)
      case 'hal-json':
        return halJson(resource, this.#prefix)
      case 'hal-xml':
        return halXml(resource, this.#prefix)
      default:
        return unreachable(shape)
    }
  }
}
