import type { ListName } from '../../domain/field.ts'
import { type Place, PROBLEM } from '../config-problem.ts'
import { type Key, type ValueSchema, isNull, scalarOf, wholeKey, ValueProblem, section } from '../key.ts'
import type { Tree } from '../tree.ts'
import { duration, flag, jsonPath, secretText, text, wholeNumber, word, guid } from '../values.ts'
import { cellTextKeys, textsOf } from './written-texts.ts'
import { connectorKeys, keysByOwnTime, listKeys, settingsOfConnector, webKeys } from './connector-lists.ts'
import { type JsonValue, type JsonValues, isJsonObject } from '../../domain/json-value.ts'
import { pagingFault } from '../../domain/paging.ts'

/** The keys of every connector that ships with Marquee and asks a web API. */
const shippedKeys = {
  ...connectorKeys,
  ...webKeys,
}

/** The keys of connectors that ship, for CRMs whose ids are not UUIDs. */
const keysWithIds = {
  ...shippedKeys,
  idNamespace: guid().says('A UUID of your own: ids become UUIDv5 of it and `<list>/<id>`. Keep it.'),
}

const apiKey = secretText('a key', (key) => /^[!-~]+$/.test(key))

/** An address of an API, without a slash at its end. */
function apiUrl(example: string): Key<string> {
  return text(
    `a URL such as ${example}, without a user, ? or #`,
    /^\s*[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s?#@]+\s*$/,
    (address) => URL.canParse(address.trim()),
  ).map((address) => address.trim().replace(/\/+$/, ''))
}

type DomainItem = string | number | boolean | readonly DomainItem[]

/** A domain as Odoo defines it: conditions of three parts, and the operators &, | and !. */
const domain: Key<readonly DomainItem[]> = wholeKey(
  "a list of conditions such as [[is_company, '=', true]], or [] for all partners",
  { type: 'array', items: { anyOf: [{ enum: ['&', '|', '!'] }, { type: 'array', minItems: 3, maxItems: 3 }] } },
  (node) => {
    const items = node.kind === 'list' ? node.items.map(domainItem) : [null]
    const isRight = items.every((item) => (Array.isArray(item) ? item.length === 3 : /^[&|!]$/.test(String(item))))
    return isRight ? items.filter((item) => item !== null) : null
  },
)

function domainItem(node: Tree): DomainItem | null {
  if (node.kind !== 'list') return scalarOf(node)?.value ?? null
  const items = node.items.map(domainItem).filter((item) => item !== null)
  return items.length === node.items.length ? items : null
}

const VERSION: ValueSchema = { enum: [17, 18, 19, 20] }
const version = wholeKey('17, 18, 19 or 20', VERSION, (node) => {
  const value = Number(scalarOf(node)?.value)
  return [17, 18, 19, 20].includes(value) ? value : null
})

const languageCode = text('the code of a language, such as de_DE', /^[A-Za-z]{2,3}(?:[_-]\w+)*(?:@\w+)?$/).map((code) =>
  code.replaceAll('-', '_'),
)

export const odoo = section({
  kind: word('odoo'),
  url: apiUrl('https://example.odoo.com').says('The address of Odoo.'),
  database: text('the name of a database', /^[\w.-]+$/).says('The database.'),
  key: apiKey.says('An API key. Its file is read again when Odoo refuses it.'),
  version: version
    .default(19)
    .says('The version of Odoo. Marquee uses JSON-RPC for 17 and 18, and JSON-2 for later ones.'),
  user: text('the login of a user', /^\S+$/).optional('required for 17 and 18').says('The user whose API key it is.'),
  language: languageCode
    .optional('the language of the key’s user')
    .says('The language of translated texts: names of events, tags, countries.'),
  ...keysWithIds,
  events: section(keysByOwnTime.events)
    .optional('the connector’s own')
    .says('Settings that override the connector’s own for events.'),
  venues: section({
    where: domain.says('Which partners are venues, as an Odoo domain.'),
    ...keysByOwnTime.venues,
  }).says('The partners that are venues, and what differs from the usual mapping.'),
})
  .says('Events of Odoo (docs/crm/odoo.md).')
  .map(settingsOfConnector(({ url, database, language }) => ({ url, database, language })))

const object = text('the name of an object, such as Event__c', /^[A-Za-z]\w*$/)

export const salesforce = section({
  kind: word('salesforce'),
  url: apiUrl('https://example.my.salesforce.com').says('The org’s own domain.'),
  clientId: text('the consumer key', /^[\w.-]+$/).says('The consumer key of the connected app.'),
  clientSecret: apiKey.says('The consumer secret. Its file is read again when Salesforce refuses it.'),
  apiVersion: text('a version such as v64.0', /^v\d\d\.0$/)
    .default('v64.0')
    .says('The version of the REST API.'),
  ...keysWithIds,
  events: section({ from: object.says('The object of events.'), ...keysByOwnTime.events }).says('The events.'),
  venues: section({ from: object.says('The object of venues.'), ...keysByOwnTime.venues }).says('The venues.'),
})
  .says('Two objects of a Salesforce org (docs/crm/salesforce.md).')
  .map(settingsOfConnector(({ url }) => ({ url })))

export const civicrm = section({
  kind: word('civicrm'),
  url: apiUrl('https://example.org').says('The address of the site; `/civicrm/ajax/api4` is added to it.'),
  key: apiKey.says('The API key of a contact. Its file is read again when CiviCRM refuses it.'),
  language: languageCode
    .optional('the site’s own')
    .says('The language of translated texts, for sites in several languages. CiviCRM 5.46 or later.'),
  ...keysWithIds,
})
  .says('Events of CiviCRM (docs/crm/civicrm.md).')
  .map(settingsOfConnector(({ url, language }) => ({ url, language })))

/** The known placeholders of requests. */
const PLACEHOLDERS = ['size', 'page', 'offset', 'after', 'cursor', 'since', 'ids']
/** Placeholders that only one key fills. In others they would be sent as they are. */
const OWNED = [
  ['since', 'since'],
  ['ids', 'byId'],
] as const
const WAYS = ['none', 'key', 'offset', 'page', 'next', 'link', 'cursor'] as const

const ANY: ValueSchema = { type: ['object', 'array', 'string', 'number', 'boolean', 'null'] }

/** Parses request values. They must not contain secrets, because `check --trace` prints requests. */
function valuesOf(allowed: string): Key<JsonValues> {
  return wholeKey(allowed, { type: 'object', additionalProperties: ANY }, (node, place) => {
    if (node.kind !== 'map') return null
    const value = valueOf(node, place)
    return isJsonObject(value) ? value : PROBLEM
  })
}

function valueOf(node: Tree, place: Place): JsonValue | typeof PROBLEM {
  if (node.kind === 'reference') return place.refuse(node, 'must not hold a secret: name it in crm.auth', true)
  if (node.kind === 'list') {
    const items = node.items.map((item, index) => valueOf(item, place.in(index, item)))
    return items.some((item) => item === PROBLEM) ? PROBLEM : items.filter((item) => item !== PROBLEM)
  }
  if (node.kind === 'map') {
    const [only = ''] = node.entries.size === 1 ? node.entries.keys() : []
    if (PLACEHOLDERS.includes(only) && isNull(node.entries.get(only)))
      return place.report(`must be in quotes: '{${only}}' without them is a mapping to YAML`)
    const values: Record<string, JsonValue> = {}
    for (const [name, inner] of node.entries) {
      const value = valueOf(inner, place.in(name, inner))
      if (value === PROBLEM) return PROBLEM
      values[name] = value
    }
    return values
  }
  const value = scalarOf(node)?.value ?? null
  const unknown = typeof value === 'string' ? unknownIn(value) : null
  return unknown === null ? value : place.report(unknown)
}

function unknownIn(written: string): string | null {
  const [, name] = [...written.matchAll(/\{(\w+)\}/g)].find(([, found = '']) => !PLACEHOLDERS.includes(found)) ?? []
  return name === undefined ? null : `has the unknown placeholder {${name}}; there are {${PLACEHOLDERS.join('}, {')}}`
}

const secret = secretText('a text without line breaks', (value) => /^[\u0020-\u007e]+$/.test(value))
const keyText = secret.says('The key.')
const name = text('the name of a header or parameter', /^[\w.-]+$/).says('The name.')
const requestPath = text('a path such as /items/events', /^\/[^\s?#]*$/, (path) => unknownIn(path) === null)

const auth = section({
  bearer: secret.optional().says('A token, sent as `Authorization: Bearer`.'),
  scheme: text('a word such as Token', /^[\w-]+$/)
    .default('Bearer')
    .says('The word before the token.'),
  header: section({ name, value: keyText }).optional().says('A header with a key.'),
  basic: section({
    // RFC 7617 forbids only these.
    user: text('a user without a colon', /^[^:\u0000-\u001f\u007f]+$/).says('The user.'),
    password: secret.says('The password.'),
  })
    .optional()
    .says('A user and a password.'),
  query: section({ name, value: keyText }).optional().says('A key in the query. Avoid it: URLs are logged on the way.'),
  clientCredentials: section({
    tokenUrl: apiUrl('https://login.example.org/token').says('The URL that issues tokens; may be on another host.'),
    clientId: text('the client id', /^\S+$/).says('The client id.'),
    clientSecret: secret.says('The client secret.'),
    scope: text('a scope', /\S/).optional().says('The scope to ask for.'),
    sendAs: oneOf(['basic', 'body'])
      .default('basic')
      .says('Whether the id and the secret are sent as basic authentication or in the body.'),
  })
    .optional()
    .says('OAuth 2 client credentials.'),
}).map((keys, place) => {
  const kinds = [keys.bearer, keys.header, keys.basic, keys.query, keys.clientCredentials]
  if (kinds.filter((kind) => kind !== null).length > 1)
    place.report('has more than one of bearer, header, basic, query, clientCredentials; keep one')
  return keys
})

function oneOf<const Word extends string>(words: readonly Word[]): Key<Word> {
  return wholeKey(`one of ${words.join(', ')}`, { enum: [...words] }, (node) => {
    return words.find((one) => one === String(scalarOf(node)?.value)) ?? null
  })
}

const start = wholeKey<string | number>(
  "a text or a number, such as 0 or ''",
  { type: ['string', 'number'] },
  (node) => {
    const value = scalarOf(node)?.value
    return typeof value === 'string' || typeof value === 'number' ? value : null
  },
)

const total = wholeKey<string | { readonly header: string }>(
  'a path such as meta.total, or { header: X-Total-Count }',
  { anyOf: [{ type: 'string' }, { type: 'object', required: ['header'] }] },
  (node) => {
    const path = scalarOf(node)?.value
    if (typeof path === 'string') return path
    const header = node.kind === 'map' && node.entries.size === 1 ? scalarOf(node.entries.get('header'))?.value : null
    return typeof header === 'string' ? { header } : null
  },
)

const paging = section({
  by: oneOf(WAYS).says('How to request the next page (docs/crm/http.md). Marquee does not guess.'),
  size: wholeNumber(1, 10_000).override('the API’s own').says('The number of rows a page, for `{size}`.'),
  from: start.override('`0`').says("The value of `{after}` in the first request; `''` if ids are texts."),
  first: wholeNumber(0, 1).default(1).says('The number of the first page.'),
  key: jsonPath.override('`id` of the list').says('The path in a row of the value for `{after}`.'),
  at: jsonPath.override('none').says('The path of the next page’s URL or cursor.'),
  more: jsonPath.override('none').says('The path of a flag that says whether there are more pages.'),
  total: total.override('none').says('The number of all rows, as a path or a header.'),
  stable: flag().default(false).says('Whether the API’s documentation promises that rows do not move between pages.'),
  hostOfLinks: oneOf(['ignored', 'kept'])
    .default('kept')
    .says(
      'The host that a link to the next page may name. `kept`: only that of `url`; another one fails the read. `ignored`: any; the request goes to the host of `url`.',
    ),
  whole: flag().default(false).says('For `none` without `total`: whether the answer has all rows.'),
})

const query = valuesOf("a mapping of names to values, such as { limit: '{size}' }")

function listOf(list: ListName, columns: (typeof listKeys)[ListName]) {
  return section({
    get: requestPath.optional().says('The path to read, after `url`.'),
    post: requestPath.optional().says('The path to read by POST, with `body`.'),
    body: query.optional().says('The body of a POST.'),
    query: query.optional().says('The query. A list is joined by commas, or repeated under a name that ends in `[]`.'),
    rows: jsonPath.override('the answer itself').says('The path of the list of rows.'),
    id: jsonPath.default('id').says('The path of a row’s id.'),
    texts: section(cellTextKeys('`crm.texts`')).says('How texts in the rows are read.'),
    paging: paging.nullIfInvalid().says('How the pages of the list follow one another.'),
    since: query
      .optional('none: full reads')
      .says('Added to the query, or the body, to read changes; contains `{since}`.'),
    sinceAs: oneOf(['asGiven', 'YYYY-MM-DD hh:mm:ss', 'epochSeconds', 'epochMs'])
      .default('asGiven')
      .says('The format of `{since}`.'),
    ids: query.optional('none').says('Added to the query, or the body, to read the ids of all rows.'),
    byId: query.optional('none').says('Added to the query, or the body, to read certain rows; contains `{ids}`.'),
    errorAt: jsonPath
      .override('that of `crm`')
      .says('The path of the error in an answer. Any value there but null fails the request.'),
    ...columns,
    updatedAt: updatedAtPaths
      .optional('none')
      .says('The path of the time of a row’s last change; of several, the first that is not blank counts.'),
  }).map((keys, place) => {
    // Conditions between several keys.
    const { get, post, body, query: parameters, paging: how, since, ids, byId, updatedAt } = keys
    const isKnown = (...names: readonly string[]): boolean =>
      !place.inFile.doubtful.has(place.key) && !names.some((key) => place.in(key, undefined).isWrong)
    if ((get === null) === (post === null) && isKnown('get', 'post'))
      place.report('must have get or post, and only one of them')
    if (body !== null && post === null && isKnown('post')) place.in('body', undefined).report('is only sent with post')
    const canTell = how !== null && isKnown('get', 'post', 'query', 'body', 'paging')
    const fault = canTell ? pagingFault(how, [get, post, parameters, body]) : null
    if (fault !== null) place.in('paging', undefined).report(fault)
    if (since !== null && !JSON.stringify(since).includes('{since}'))
      place.in('since', undefined).report("needs '{since}'")
    if (since !== null && updatedAt === null && isKnown('updatedAt'))
      place.in('updatedAt', undefined).report('is missing; since needs it')
    if (ids !== null && since === null && isKnown('since')) place.in('ids', undefined).report('is only used with since')
    if (byId !== null && !JSON.stringify(byId).includes('{ids}')) place.in('byId', undefined).report("needs '{ids}'")
    for (const [key, value] of Object.entries({ get, post, query: parameters, body, since, ids, byId })) {
      const found = OWNED.find(([own, owner]) => key !== owner && JSON.stringify(value).includes(`{${own}}`))
      if (found !== undefined)
        place.in(key, undefined).report(`has {${found[0]}}, which only ${found[1]} gives a value`)
    }
    return how === null ? PROBLEM : { ...keys, paging: how, list }
  })
}

const updatedAtPaths = wholeKey<readonly string[]>(
  'a path such as date_updated, or a list of paths',
  { anyOf: [{ type: 'string' }, { type: 'array', minItems: 1, items: { type: 'string' } }] },
  (node) => {
    const nodes = node.kind === 'list' ? node.items : [node]
    const paths = nodes.map((one) => scalarOf(one)?.value).filter((one) => typeof one === 'string' && one !== '')
    return paths.length === nodes.length && paths.length > 0 ? paths.map(String) : null
  },
)

const SECRET_HEADER = /authorization|cookie|key|token|secret|password/i

const headers = wholeKey<Readonly<Record<string, string>>>(
  'a mapping of header names to texts',
  { type: 'object', additionalProperties: { type: 'string' } },
  (node) => {
    if (node.kind !== 'map') return null
    const fields: Record<string, string> = {}
    for (const [header, inner] of node.entries) {
      const value = inner.kind === 'scalar' ? scalarOf(inner)?.value : undefined
      if (SECRET_HEADER.test(header))
        return new ValueProblem(`must not hold ${header}: secrets belong in crm.auth`, true)
      if (typeof value !== 'string' || !/^[\w-]+$/.test(header)) return null
      fields[header] = value
    }
    return fields
  },
)

export const http = section({
  kind: word('http'),
  url: apiUrl('https://cms.example.org').says(
    'The address of the API. Marquee sends requests only to its origin, and puts its path before all paths.',
  ),
  auth: auth.orNull().optional('none').says('The credentials. A file is read again when the API refuses its content.'),
  headers: headers.optional('none').says('Additional request headers. Secrets belong in `auth`.'),
  errorAt: jsonPath
    .override('none')
    .says('The path of the error in an answer. Any value there but null fails the request.'),
  refusedAs: wholeKey('a list of words', { type: 'array', items: { type: 'string' } }, (node) =>
    node.kind === 'list' ? node.items.map((item) => String(scalarOf(item)?.value ?? '')) : null,
  )
    .override('none')
    .says('The values at `errorAt` that mean a refused key.'),
  requests: section({
    most: wholeNumber(1, 1_000_000).says('The highest number of requests in that time.'),
    per: duration({ leastMs: 1000 }).default('1m').says('The period.'),
  })
    .optional('600 in a minute')
    .says('The budget of requests.'),
  texts: section(cellTextKeys('')).says('How texts in the rows of both lists are read.'),
  ...shippedKeys,
  events: listOf('events', listKeys.events).says('How events are read.'),
  venues: listOf('venues', listKeys.venues).says('How venues are read.'),
})
  .says('Two lists of a JSON API (docs/crm/http.md).')
  .map(({ texts: all, ...rest }) => {
    const { events, venues } = rest
    const texts = { events: textsOf(all, events.texts), venues: textsOf(all, venues.texts) }
    const block = { ...rest, texts }
    return settingsOfConnector<typeof block>(({ url }) => ({ url, texts }))(block)
  })
