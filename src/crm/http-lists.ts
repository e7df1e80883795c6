// The generic connector of JSON APIs (crm.kind: http). In: the settings of each list. Out: a connector on the outer
// port, with the requests and the paging of `context.http`.

import { canBeInner, unfitWithin } from '../domain/inner-value.ts'
import { type JsonValues, mapTextsIn, valueAt } from '../domain/json-value.ts'
import type { CrmSettings } from '../config/configuration.ts'
import type { Secret } from '../domain/secret.ts'
import { batchRows, mappedBatches } from './batches.ts'
import { Tokens } from './kit/tokens.ts'
import type {
  Batches,
  Cells,
  Connector,
  Context,
  IdPair,
  PagesOptions,
  RequestOptions,
  Stream,
} from './connector/marquee-connector.d.ts'
import type { SettingValues } from './context/given-settings.ts'

type List = CrmSettings<'http'>['venues']
type Access = Pick<RequestOptions, 'bearer' | 'headers' | 'query'>

/** What `since` and `byId` put into a request. */
type Given = { readonly time?: string | number; readonly some?: readonly (string | number)[] }

/** The column of the first time that is not null, if the configuration names several. */
const FIRST_STAMP = 'the first updatedAt'

export function httpConnector(settings: CrmSettings<'http'>): readonly [Connector, SettingValues] {
  const { url, auth, requests } = settings
  const secret = secretOf(auth)
  const tokenUrl = auth?.clientCredentials?.tokenUrl ?? null
  const access = accessOf(settings)
  const connector: Connector = {
    api: 2,
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
  const tokens = new Tokens()
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
    const bearer = tokens.bearer(context, { tokenUrl, clientId, clientSecret: secret, scope, sendAs })
    return { bearer, headers: further }
  }
}

function streamOf(settings: CrmSettings<'http'>, list: List, access: AccessOf): Stream {
  const { since, ids, byId, id, updatedAt, sinceAs } = list
  const options = pagingOf(settings, list)

  function read(context: Context, more: JsonValues = {}, { time = '', some = [] }: Given = {}): Batches<Cells> {
    const proof = access(context)
    /** Puts times and ids into a request. Alone in a text, a time keeps its type and ids stay a list. */
    const added = mapTextsIn(more, (text) => {
      if (text === '{ids}') return some
      if (text === '{since}') return time
      if (text.includes('{ids}') && !some.every((one) => canBeInner(String(one))))
        context.fail('broken', unfitWithin('ids'))
      return text.replaceAll('{since}', String(time)).replaceAll('{ids}', some.join(','))
    })
    const isPost = list.post !== null
    return context.http.pages(`${settings.url}${list.post ?? list.get ?? ''}`, {
      ...options,
      ...proof,
      ...(isPost ? { body: { ...list.body, ...added } } : {}),
      query: { ...list.query, ...(isPost ? {} : added), ...proof.query },
    })
  }

  const stamps = updatedAt ?? []
  // The kit has ids and times as texts. Requests have them as the API writes them, as numbers or as texts.
  let hasNumericIds = false
  /** `null` until a row has shown it. */
  let hasNumericTimes: boolean | null = null
  function pairOf(row: Cells): IdPair {
    const pair = [firstAt(row, [id]) ?? '', firstAt(row, stamps)] as const
    hasNumericIds ||= typeof pair[0] === 'number'
    if (pair[1] !== null) hasNumericTimes = typeof pair[1] === 'number'
    return pair
  }
  const stamped = (batches: Batches<Cells>): Batches<Cells> =>
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
            yield* stamped(read(context, since, { time }))
          },
        }),
    ...(ids === null ? {} : { ids: (context) => mappedBatches(read(context, ids), pairOf) }),
    ...(byId === null
      ? {}
      : {
          byId(context, some) {
            const wanted = some.map((text) => asNumberIf(hasNumericIds, text))
            return stamped(untilRepeated(read(context, byId, { some: wanted }), id, some))
          },
        }),
  }
}

/** Ends once all rows have come, or none of a page is new: if an API is given ids, it may ignore the paging. */
async function* untilRepeated(batches: Batches<Cells>, id: string, wanted: readonly string[]): Batches<Cells> {
  const seen = new Set<string>()
  for await (const batch of batches) {
    const before = seen.size
    for (const row of batchRows(batch)) seen.add(String(firstAt(row, [id])))
    if (before > 0 && seen.size === before) return
    yield batch
    if (wanted.every((one) => seen.has(one))) return
  }
}

function pagingOf(settings: CrmSettings<'http'>, list: List): Omit<PagesOptions, 'query' | 'body'> {
  const { refusedAs } = settings
  const { id, paging, rows, errorAt = settings.errorAt } = list
  const { stable, ...others } = paging
  return {
    key: id,
    ...others,
    ...(stable ? { stable } : {}),
    ...(rows === undefined ? {} : { rows }),
    ...(errorAt === undefined ? {} : { errorAt }),
    ...(refusedAs === undefined ? {} : { refusedAs }),
  }
}

/** A text as a number, if it is one and the API writes numbers. */
function asNumberIf(isNumeric: boolean, text: string): string | number {
  return isNumeric && String(Number(text)) === text ? Number(text) : text
}

/** The first text or number that stands at one of these paths: an id, or a time as the API writes it. */
function firstAt(row: Cells, paths: readonly string[]): string | number | null {
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
