// Two tables of a Dataverse environment, read by change tracking. In: the tables' settings. Out: a Connector. Columns
// turns entries of the Web API into rows by configured names, with the labels of codes (labels.ts) and the names of
// time zones (zone-names.ts).

import type { JsonValue, JsonValues } from '../../domain/json-value.ts'
import type { Batches, Connector, Context, FullEnd, More, Row, Stream } from '../connector/marquee-connector.d.ts'
import { mappedColumns } from '../mapping/list-setting.ts'
import { Columns } from './columns.ts'
import { errorIn, failWith } from './errors.ts'
import { Labels } from './labels.ts'
import type { TableSetting } from './stock-mapping.ts'
import { WebApi, nextLink, ownLink, rowsIn, settingsOf } from './web-api.ts'
import { ZoneNames } from './zone-names.ts'
import { parseGuid } from '../../domain/guid.ts'

interface DataverseOptions {
  readonly events: TableSetting
  readonly venues: TableSetting
  /** The language of labels, as an LCID; `null` for the language of the application user. */
  readonly language: number | null
  /** Whether the tickets are read on their own. */
  readonly readsTickets: boolean
  /** Where the client secret comes from, in words. */
  readonly secretFrom: string
  /** The time in ms of a clock that never goes back. */
  readonly nowMs: () => number
}

/** The rows of a page. Dataverse sends 5,000 at most. */
const PAGE = 'odata.maxpagesize=1000'
/** Rows of tickets have three columns: five times as many are no larger than a page of whole rows. */
const TICKETS_PAGE = 'odata.maxpagesize=5000'
const TICKET_FIELDS: ReadonlySet<string> = new Set(['Id', 'TicketCapacity', 'TicketsAvailable'])
/** After this time, a table without change tracking is tried again: it may have been switched on. */
const AGAIN_AFTER_MS = 900_000
const OFF = 'has no change tracking: it is read in full each time; switch on "Track changes" in the table\'s properties'
const FAILING =
  'has change tracking whose links cannot be followed: it is read in full each time; does a proxy change the answers?'

export function dataverseConnector(options: DataverseOptions): Connector {
  const { events, venues, readsTickets, secretFrom, nowMs } = options
  const api = new WebApi(secretFrom)
  const zones = new ZoneNames(api, nowMs)
  return {
    api: 2,
    settings: { url: 'url', authority: 'url', tenant: 'text', clientId: 'text', clientSecret: 'secret' },
    // Dataverse grants a user 6,000 requests in five minutes.
    requests: { atOnce: 3, most: 5000, per: '5m' },
    events: tableStream('events', events, { ...options, api, zones }, readsTickets),
    venues: tableStream('venues', venues, { ...options, api, zones }, false),
  }
}

interface Parts extends Pick<DataverseOptions, 'language' | 'nowMs'> {
  readonly api: WebApi
  readonly zones: ZoneNames
}

function tableStream(list: string, setting: TableSetting, parts: Parts, readsTickets: boolean): Stream {
  const { api, zones, nowMs, language } = parts
  const { from } = setting
  const labelled = mappedColumns(setting).filter(({ label }) => label)
  const labels = new Labels({ api, nowMs, from, language, columns: labelled.map(({ column }) => column) })
  const columns = new Columns(list, setting, api, labels, zones)
  /** Why the table is read in full each time, and when that was found out; `null` if change tracking works. */
  let untracked: { readonly why: string; readonly atMs: number } | null = null

  /** Yields the rows of all pages. Returns the link to the changes since; `null` if there is none. */
  async function* pages(context: Context, first: JsonValues, prefer: readonly string[]): Batches<Row, JsonValue> {
    // Detects a cycle of links (Brent's algorithm): each link is compared with a kept one, that of page 1, 2, 4, 8, …
    let kept: { readonly link: string | null; readonly until: number } = { link: '', until: 1 }
    let answer = first
    for (let page = 1; ; page++) {
      const entries = rowsIn(context, answer) ?? context.fail('broken', `${from}: the answer has no value`)
      yield { rows: await columns.rowsOf(context, entries), stable: 'order' }
      const link = nextLink(context, answer)
      if (link === null) return answer['@odata.deltaLink'] ?? null
      if (link === kept.link) context.fail('broken', `${from}: the pages have no end`)
      if (page === kept.until) kept = { link, until: 2 * page }
      answer = await api.get(context, link, prefer)
    }
  }

  async function* full(context: Context): Batches<Row, FullEnd> {
    const isTracked = untracked === null || nowMs() - untracked.atMs >= AGAIN_AFTER_MS
    const prefer = isTracked ? ['odata.track-changes', PAGE] : [PAGE]
    const first = await columns.first(context, prefer).catch((cause: unknown) => {
      if (!isTracked || errorIn(cause)?.kind !== 'not-tracked') throw cause
      return null
    })
    if (first === null) {
      untracked = { why: OFF, atMs: nowMs() }
      return yield* full(context)
    }
    // Read after the first page has shown that the columns exist: labels of a missing column would fail unclearly.
    await labels.read(context)
    const link = yield* pages(context, first, prefer)
    if (isTracked) {
      const own = ownLink(context, link)
      if ('link' in own) {
        untracked = null
        return { cursor: own.link }
      }
      untracked = { why: link === null ? OFF : FAILING, atMs: nowMs() }
    }
    context.notice(`the table ${from} ${untracked?.why ?? OFF}`)
    return {}
  }

  /** A row that changes again while its changes are paged may be on none of the pages: `more`. */
  async function* changes(context: Context, cursor: string | null): Batches<Row, string | More | null> {
    // `full` returns it.
    if (cursor === null) return null
    if ('fault' in ownLink(context, cursor)) context.fail('expired', 'there is no valid position to continue from')
    let answer = await firstChanges(context, cursor)
    for (let page = 1; ; page++) {
      const entries = rowsIn(context, answer) ?? []
      const gone = entries.filter(isDeleted).map((entry) => deletedId(context, entry))
      const rows = await columns.rowsOf(
        context,
        entries.filter((entry) => !isDeleted(entry)),
      )
      // Only a full read can tell which record it was.
      if (gone.length > 0 && columns.hasOwnIds !== false)
        context.fail('expired', 'a deleted row is not named by its id')
      yield { rows, deleted: gone }
      const link = nextLink(context, answer)
      if (link === null) return next(context, answer['@odata.deltaLink'] ?? null, page === 1 ? cursor : null)
      answer = await api.get(context, link, [PAGE])
    }
  }

  /** @param link where changes go on from. @param only the cursor of the read, if it had one page */
  function next(context: Context, link: unknown, only: string | null): string | More {
    if (link === null && only !== null) return only
    if (link === null) context.fail('broken', `${from}: the last page of the changes has no link to continue from`)
    const own = ownLink(context, link)
    if ('fault' in own) return context.fail('expired', `the answer ${own.fault}`)
    return only === null ? { cursor: own.link, more: true } : own.link
  }

  async function firstChanges(context: Context, cursor: string): Promise<JsonValues> {
    const answer = await api.get(context, cursor, [PAGE]).catch((cause: unknown) => {
      // The link is at fault, or a full read explains the error better.
      const kind = errorIn(cause)?.kind
      const isLink =
        kind !== undefined && kind !== 'refused' && kind !== 'missing-privilege' && kind !== 'no-application-user'
      return isLink
        ? context.fail('expired', 'Dataverse no longer knows what changed since the last read')
        : Promise.reject(cause)
    })
    const { '@odata.context': about = null, value = null } = answer
    const isDelta = typeof about === 'string' && about.endsWith('/$delta')
    // The whole list in place of changes does not show deletions; only a full read does.
    if (value !== null && !isDelta) context.fail('expired', 'Dataverse sent the whole list instead of its changes')
    return answer
  }

  async function* availability(context: Context): Batches {
    yield* pages(context, await columns.first(context, [TICKETS_PAGE], TICKET_FIELDS), [TICKETS_PAGE])
  }

  /** Explains what a read throws, in an admin's words. */
  async function* explained<End>(context: Context, read: Batches<Row, End>): Batches<Row, End> {
    try {
      return yield* read
    } catch (cause) {
      const { url, clientId } = settingsOf(context)
      return failWith(cause, context, { from, origin: url, clientId })
    }
  }

  return {
    fields: { Id: 'Id' },
    full: (context) => explained(context, full(context)),
    changes: (context, cursor) => explained(context, changes(context, cursor)),
    ...(readsTickets ? { availability: (context: Context) => explained(context, availability(context)) } : {}),
  }
}

function isDeleted(entry: JsonValues): boolean {
  const context = entry['@odata.context']
  return (typeof context === 'string' && context.endsWith('/$deletedEntity')) || Object.hasOwn(entry, '@odata.removed')
}

/** Returns the id of a deleted row. `id` is a bare GUID, or the entity's URL according to OData 4.0. */
function deletedId(context: Context, entry: JsonValues): string {
  const text = entry['id'] ?? entry['@odata.id'] ?? null
  const id = typeof text === 'string' ? parseGuid(/\(([^()]+)\)$/.exec(text)?.[1] ?? text) : null
  return id ?? context.fail('broken', 'a deleted entry names no row')
}
