// The generic connector of JSON APIs (crm.kind: http). In: the settings of each list. Out: a connector on the outer
// port, with the requests and the paging of `context.http`.

import { canBeInner, unfitWithin } from '../domain/inner-value.ts'
import { type JsonValue, type JsonValues, valueAt } from '../domain/json-value.ts'
import type { CrmSettings } from '../config/configuration.ts'
import type { Secret } from '../domain/secret.ts'
import { mappedBatches } from './batches.ts'
import { ClientToken } from './client-token.ts'
import type {
  Batch,
  Connector,
  Context,
  IdPair,
  PagesOptions,
  RequestOptions,
  Row,
  Stream,
} from './connector/marquee-connector.d.ts'
import type { SettingValues } from './context/given-settings.ts'

type List = CrmSettings<'http'>['venues']
type Access = Pick<RequestOptions, 'bearer' | 'headers' | 'query'>

/** What `since` and `byId` put into a request. */
type Given = { readonly since?: string | number; readonly ids?: readonly (string | number)[] }

/** The column of the first time that is not null, if the configuration names several. */
const FIRST_STAMP = 'the first updatedAt'

export function httpConnector(settings: CrmSettings<'http'>): readonly [Connector, SettingValues] {
  const { url, auth, requests } = settings
  const secret = secretOf(auth)
  const tokenUrl = auth?.clientCredentials?.tokenUrl ?? null
  const access = accessOf(settings)
  const connector: Connector = {
    api: 1,
    settings: {
      url: 'url',
      ...(secret === null ? {} : { secret: 'secret' }),
      ...(tokenUrl === null ? {} : { tokenUrl: 'url' }),
    },
    ...(requests === null ? {} : { requests: { most: requests.most, per: `${Math.ceil(requests.perMs / 1000)}s` } }),
    events: streamOf(settings, settings.events, access),
    venues: streamOf(settings, settings.venues, access),
  }
  return [connector, { url, ...(secret === null ? {} : { secret }), ...(tokenUrl === null ? {} : { tokenUrl }) }]
}

function secretOf(auth: CrmSettings<'http'>['auth']): Secret | null {
  if (auth === null) return null
  const { bearer, header, basic, query, clientCredentials } = auth
  return bearer ?? header?.value ?? basic?.password ?? query?.value ?? clientCredentials?.clientSecret ?? null
}

type AccessOf = (context: Context) => Access

/** Returns the source of credentials for requests. Uses the secret of the context, which may have been rotated. */
function accessOf({ auth, headers }: CrmSettings<'http'>): AccessOf {
  const token = new ClientToken()
  return (context) => {
    const further = headers ?? {}
    const secret = String(context.settings['secret'] ?? '')
    if (auth?.bearer) {
      if (auth.scheme === 'Bearer') return { bearer: secret, headers: further }
      return { headers: { ...further, authorization: `${auth.scheme} ${secret}` } }
    }
    if (auth?.header) return { headers: { ...further, [auth.header.name]: secret } }
    if (auth?.basic) {
      const user = Buffer.from(`${auth.basic.user}:${secret}`).toString('base64')
      return { headers: { ...further, authorization: `Basic ${user}` } }
    }
    if (auth?.query) return { headers: further, query: { [auth.query.name]: secret } }
    if (!auth?.clientCredentials) return { headers: further }
    const { tokenUrl, clientId, scope, sendAs } = auth.clientCredentials
    const bearer = token.bearer(context, { tokenUrl, clientId, clientSecret: secret, scope, sendAs })
    return { bearer, headers: further }
  }
}

function streamOf(settings: CrmSettings<'http'>, list: List, access: AccessOf): Stream {
  const { since, ids, byId, id, updatedAt, sinceAs } = list
  const options = pagingOf(settings, list)
  const path = list.post ?? list.get ?? ''

  function read(context: Context, more: JsonValues = {}, given: Given = {}): AsyncIterable<Batch> {
    const proof = access(context)
    if (hasInnerIds(more) && given.ids?.every((one) => canBeInner(String(one))) === false)
      context.fail('broken', unfitWithin('ids'))
    const added = filled(more, given)
    const isPost = list.post !== null
    const query = queryOf({ ...list.query, ...(isPost ? {} : added) })
    const body = isPost ? { body: { ...list.body, ...added } } : {}
    return context.http.pages(`${settings.url}${path}`, {
      ...options,
      ...proof,
      ...body,
      query: { ...query, ...proof.query },
    })
  }

  const stamps = updatedAt ?? []
  // The kit has ids and times as texts. Requests have them as the API writes them, as numbers or as texts.
  let hasNumericIds = false
  /** `null` until a row has shown it. */
  let hasNumericTimes: boolean | null = null
  function pairOf(row: Row): IdPair {
    const pair = [firstAt(row, [id]) ?? '', firstAt(row, stamps)] as const
    hasNumericIds ||= typeof pair[0] === 'number'
    if (pair[1] !== null) hasNumericTimes = typeof pair[1] === 'number'
    return pair
  }
  const stamped = (batches: AsyncIterable<Batch>): AsyncIterable<Batch> =>
    mappedBatches(batches, (row) => {
      const [, time] = pairOf(row)
      return stamps.length < 2 ? row : { ...row, [FIRST_STAMP]: time }
    })
  const [stamp] = stamps
  return {
    fields: { Id: id },
    ...(stamp === undefined ? {} : { updatedAt: stamps.length < 2 ? stamp : FIRST_STAMP }),
    full: (context) => stamped(read(context)),
    ...(since === null
      ? {}
      : {
          async *since(context, after) {
            // After a restart, the first page shows how the API writes times: a strict API refuses the other way.
            const isUnknown = list.post !== null && sinceAs === 'asGiven' && hasNumericTimes === null
            if (isUnknown && asNumberIf(true, after) !== after)
              for await (const _ of stamped(read(context))) if (hasNumericTimes !== null) break
            const time = sinceAs === 'asGiven' ? asNumberIf(hasNumericTimes === true, after) : writtenAs(after, sinceAs)
            yield* stamped(read(context, since, { since: time }))
          },
        }),
    ...(ids === null ? {} : { ids: (context) => mappedBatches(read(context, ids), pairOf) }),
    ...(byId === null
      ? {}
      : {
          byId(context, some) {
            const wanted = some.map((text) => asNumberIf(hasNumericIds, text))
            return stamped(read(context, byId, { ids: wanted }))
          },
        }),
  }
}

function pagingOf({ errorAt, refusedAs }: CrmSettings<'http'>, list: List): Omit<PagesOptions, 'query' | 'body'> {
  const { by, size, from, first, key, at, more, total, stable, hostOfLinks, whole } = list.paging
  const error = list.errorAt ?? errorAt
  return {
    by,
    first,
    whole,
    key: key ?? list.id,
    ...(size === null ? {} : { size }),
    ...(from === null ? {} : { from }),
    ...(at === null ? {} : { at }),
    ...(more === null ? {} : { more }),
    ...(total === null ? {} : { total }),
    ...(stable ? { stable } : {}),
    ...(hostOfLinks === 'ignored' ? { hostOfLinks } : {}),
    ...(list.rows === null ? {} : { rows: list.rows }),
    ...(error === null ? {} : { errorAt: error }),
    ...(refusedAs === null ? {} : { refusedAs }),
  }
}

/** A text as a number, if it is one and the API writes numbers. */
function asNumberIf(isNumeric: boolean, text: string): string | number {
  return isNumeric && String(Number(text)) === text ? Number(text) : text
}

/** Puts times and ids into a request. Alone in a text, a time keeps its type and ids stay a list. */
function filled(values: JsonValues, given: Given): JsonValues {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, filledValue(value, given)]))
}

function filledValue(value: JsonValue, given: Given): JsonValue {
  if (typeof value === 'string') {
    if (value === '{ids}') return given.ids ?? []
    if (value === '{since}') return given.since ?? ''
    return value.replaceAll('{since}', String(given.since ?? '')).replaceAll('{ids}', (given.ids ?? []).join(','))
  }
  if (typeof value !== 'object' || value === null) return value
  return isList(value) ? value.map((item) => filledValue(item, given)) : filled(value, given)
}

/** Whether `{ids}` stands within a longer text. */
function hasInnerIds(value: JsonValue): boolean {
  if (typeof value === 'string') return value.includes('{ids}') && value !== '{ids}'
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInnerIds)
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value)
}

type Query = NonNullable<RequestOptions['query']>

/** A query has no objects: they are sent as JSON. */
function queryOf(values: JsonValues): Query {
  const query: Record<string, Query[string]> = {}
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'object' || value === null) query[name] = value
    else query[name] = isList(value) ? value.flatMap((item) => queryItems(item)) : plain(value)
  }
  return query
}

function queryItems(item: JsonValue): readonly (string | number)[] {
  // `{ids}` as an item is a list within the list.
  if (typeof item === 'object' && item !== null && isList(item)) return item.flatMap((inner) => queryItems(inner))
  return [typeof item === 'number' ? item : plain(item)]
}

function plain(value: JsonValue): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The first text or number that stands at one of these paths: an id, or a time as the API writes it. */
function firstAt(row: Row, paths: readonly string[]): string | number | null {
  for (const path of paths) {
    const value = valueAt(row, path)
    if ((typeof value === 'string' && value !== '') || typeof value === 'number') return value
  }
  return null
}

/** Writes the time of the newest row as the API wants it. */
function writtenAs(after: string, as: List['sinceAs']): string | number {
  // A time without an offset is in UTC.
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(after) ? after : `${after.replace(' ', 'T')}Z`
  const ms = /^\d+$/.test(after) ? Number(after) * (after.length > 11 ? 1 : 1000) : Date.parse(zoned)
  if (Number.isNaN(ms)) return after
  if (as === 'epochMs') return ms
  if (as === 'epochSeconds') return Math.floor(ms / 1000)
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}
