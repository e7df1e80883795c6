import type { Endpoint } from '../contract/endpoints.ts'
import { type Guid, parseGuid } from '../domain/guid.ts'

/**
 * A resource and its id. `id` is `null` if it is absent, malformed, `null` or the empty GUID, which is answered with
 * 400 (contract §1.1), and for resources that are not records.
 */
export interface Route {
  readonly resource: Endpoint
  readonly id: Guid | null
}

/** The paths that are there only if they are switched on. */
interface RouteSwitches {
  readonly calendar?: boolean
  readonly atom?: boolean
  readonly tags?: boolean
  readonly changes?: boolean
}

/** Routes requests by path alone (contract §1). */
export class Router {
  readonly #prefix: string
  readonly #events: string
  readonly #venues: string
  readonly #has: RouteSwitches

  /** @param basePath `/` for the root; any other path has no trailing slash */
  constructor(basePath: string, has: RouteSwitches = {}) {
    this.#has = has
    this.#prefix = basePath === '/' ? '' : basePath.toLowerCase()
    const spelt = basePath === '/' ? '' : basePath
    this.#events = `${spelt}/api/events/`
    this.#venues = `${spelt}/api/venues/`
  }

  /**
   * Returns the route of a record's path or absolute URL if it is spelt exactly like our own links, as nearly all are.
   * It is parsed from its end, because parsing and folding a whole URL costs more than finding the record. `null` for
   * any other target, which `route` must parse.
   */
  routeAsLinked(target: string): Route | null {
    const pathAt = target.length - GUID_LENGTH - this.#events.length
    if (pathAt < 0) return null
    const isEvent = target.startsWith(this.#events, pathAt)
    if (!isEvent && !target.startsWith(this.#venues, pathAt)) return null
    if (pathAt > 0 && pathAt !== startOfPath(target)) return null
    const id = parseGuid(target.slice(-GUID_LENGTH))
    return id === null ? null : { resource: isEvent ? 'event' : 'venue', id }
  }

  route(pathname: string): Route | null {
    let at = this.#prefix.length
    if (at > 0 && pathname.slice(0, at).toLowerCase() !== this.#prefix) return null
    const isApi = startsWithWord(pathname, at, '/api/')
    if (isApi) at += 4
    const end = pathname.length - (pathname.endsWith('/') ? 1 : 0)
    if (startsWithWord(pathname, at, '/events')) return this.#event(pathname, at + 7, end, isApi)
    if (startsWithWord(pathname, at, '/venues')) return this.#venue(pathname, at + 7, end)
    if (this.#has.tags === true && at + TAGS.length === end && startsWithWord(pathname, at, TAGS))
      return { resource: 'tags', id: null }
    if (this.#has.changes === true && at + CHANGES.length === end && startsWithWord(pathname, at, CHANGES))
      return { resource: 'changes', id: null }
    return null
  }

  #event(pathname: string, at: number, end: number, isApi: boolean): Route | null {
    if (at >= end) return { resource: 'events', id: null }
    if (pathname.charCodeAt(at) !== SLASH) {
      // The feeds of all events have no path without /api, because no link of a record leads to them (contract §6).
      const isOf = (ending: string): boolean => at + ending.length === end && startsWithWord(pathname, at, ending)
      if (isApi && this.#has.calendar === true && isOf(ICS)) return { resource: 'calendar', id: null }
      return isApi && this.#has.atom === true && isOf(ATOM) ? { resource: 'atom', id: null } : null
    }
    const slash = pathname.indexOf('/', at + 1)
    if (slash === -1 || slash >= end) {
      const isCalendar = this.#has.calendar === true && startsWithWord(pathname, end - ICS.length, ICS)
      if (isCalendar) return { resource: 'event-calendar', id: idOf(pathname.slice(at + 1, end - ICS.length)) }
      return { resource: 'event', id: idOf(pathname.slice(at + 1, end)) }
    }
    if (end - slash !== 6 || !startsWithWord(pathname, slash, '/venue')) return null
    return { resource: 'event-venue', id: idOf(pathname.slice(at + 1, slash)) }
  }

  #venue(pathname: string, at: number, end: number): Route | null {
    if (at >= end) return { resource: 'venues', id: null }
    if (pathname.charCodeAt(at) !== SLASH) return null
    const id = pathname.slice(at + 1, end)
    return id.includes('/') ? null : { resource: 'venue', id: idOf(id) }
  }
}

const SLASH = 47
const ICS = '.ics'
const ATOM = '.atom'
const TAGS = '/tags'
const CHANGES = '/changes'
const GUID_LENGTH = 36

/** Returns where the path of an absolute URL begins; -1 if the text is not one or contains a query. */
function startOfPath(url: string): number {
  const scheme = url.indexOf('://')
  // In the target `/http://h/x`, `://` is part of the path.
  const isAbsolute = scheme !== -1 && scheme < url.indexOf('/')
  return isAbsolute && !url.includes('?') ? url.indexOf('/', scheme + 3) : -1
}

/** Returns true if `word` (in lower case) occurs at `at` in any case. */
function startsWithWord(text: string, at: number, word: string): boolean {
  if (text.startsWith(word, at)) return true
  return text.slice(at, at + word.length).toLowerCase() === word
}

function idOf(segment: string): Guid | null {
  if (!segment.includes('%')) return parseGuid(segment)
  try {
    return parseGuid(decodeURIComponent(segment))
  } catch (cause) {
    // The bytes are not UTF-8, or there is a lone per cent sign.
    if (cause instanceof URIError) return null
    throw new Error('an id cannot be decoded', { cause })
  }
}
