import type { ChangeFeed } from '../changes/change-feed.ts'
import { type Body, bodyOf, etagOf } from '../domain/body.ts'
import type { Formatter } from '../formats/format.ts'
import type { MediaType } from '../formats/media-types.ts'
import { pairsOf, queryOf, shownValue } from './list-query.ts'

/** A caller's query of changes. */
export interface ChangesQuery {
  /** The position that the caller got; `null` for now. */
  readonly since: string | null
  /** How long the answer may wait for a change. */
  readonly waitMs: number
}

/** Retry-After of a caller who may not wait for a change. */
export const RETRY_CHANGES_S = 5

const LONGEST_WAIT_S = 60
const WAIT = /^(\d{1,2})s$/

/** Parses the query of a request target. Returns a sentence if it has a problem. */
export function readChangesQuery(target: string): ChangesQuery | string {
  let since: string | null = null
  let wait: string | null = null
  for (const [name, value] of pairsOf(queryOf(target))) {
    if (name !== 'since' && name !== 'wait')
      return `${shownValue(name)} is not a parameter of the changes. Their parameters are since and wait.`
    if ((name === 'since' ? since : wait) !== null) return `${name} is given more than once.`
    if (name === 'since') since = value
    else wait = value
  }
  if (wait === null) return { since, waitMs: 0 }
  const seconds = Number(WAIT.exec(wait)?.[1] ?? Number.NaN)
  if (!(seconds <= LONGEST_WAIT_S)) return `wait takes seconds from 0s to ${LONGEST_WAIT_S}s, such as 30s.`
  return { since, waitMs: seconds * 1000 }
}

const JSON_TYPE = 'application/json'
const HAL_JSON = 'application/hal+json'

/** A page of changes, or why there is none. */
type Found =
  | { readonly kind: 'page'; readonly body: Body; readonly etag: string; readonly mediaType: MediaType }
  | { readonly kind: 'unknown' }
  /** Nothing has changed since this position, and the caller would wait. */
  | { readonly kind: 'wait'; readonly since: string }

/** Serves `/api/changes` if the feed of changes is on (docs/changes.md). */
export class Changes {
  readonly feed: ChangeFeed
  readonly #formatter: Formatter

  constructor(feed: ChangeFeed, formatter: Formatter) {
    this.feed = feed
    this.#formatter = formatter
  }

  /** Returns the changes in JSON, or in HAL JSON if that is the negotiated type. */
  find({ since, waitMs }: ChangesQuery, negotiated: MediaType): Found {
    const from = since ?? this.feed.now
    const page = this.feed.since(from)
    if (page === null) return { kind: 'unknown' }
    if (page.changes.length === 0 && waitMs > 0) return { kind: 'wait', since: from }
    const mediaType = negotiated === HAL_JSON ? HAL_JSON : JSON_TYPE
    const list = { ...page, next: `~/changes?since=${page.next}` }
    const body = bodyOf(this.#formatter.changes(list, mediaType === HAL_JSON))
    return { kind: 'page', body, etag: etagOf(body), mediaType }
  }
}
