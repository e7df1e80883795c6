import { proxyUrl } from '../addresses.ts'
import { type Key, type ValueSchema, scalarOf, wholeKey } from '../key.ts'
import { section } from '../section.ts'
import type { Tree } from '../tree.ts'
import { flag, guid, path, secretText, text, word } from '../values.ts'
import { connectorKeys, listKeys, settingsOfConnector } from './connector-lists.ts'

/** The keys of every connector that ships with Marquee and asks a web API. */
export const shippedKeys = {
  ...connectorKeys,
  proxy: proxyUrl()
    .optional('`HTTPS_PROXY` and `NO_PROXY`')
    .says('The forward proxy for all requests; `NO_PROXY` is then ignored.'),
  ca: path('the path of a PEM file').optional().says('Additional certificates to trust.'),
  allowInsecure: flag().default(false).says('Whether `http:` to other machines is allowed.'),
}

/** The same for CRMs whose ids are not UUIDs. */
const keysWithIds = {
  ...shippedKeys,
  idNamespace: guid().says('A UUID of your own: ids become UUIDv5 of it and `<list>/<id>`. Keep it.'),
}

const key = secretText('a key', (given) => /^[!-~]+$/.test(given))

/** An address of an API, without a slash at its end. */
export function apiUrl(example: string): Key<string> {
  return text(
    `a URL such as ${example}, without a user, ? or #`,
    /^\s*[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s?#@]+\s*$/,
    (given) => URL.canParse(given.trim()),
  ).map((given) => given.trim().replace(/\/+$/, ''))
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

export const odoo = section({
  kind: word('odoo'),
  url: apiUrl('https://example.odoo.com').says('The address of Odoo.'),
  database: text('the name of a database', /^[\w.-]+$/).says('The database.'),
  key: key.says('An API key. Its file is read again when Odoo refuses it.'),
  version: version
    .default(19)
    .says('The version of Odoo. Marquee uses JSON-RPC for 17 and 18, and JSON-2 for later ones.'),
  user: text('the login of a user', /^\S+$/).optional('required for 17 and 18').says('The user whose API key it is.'),
  ...keysWithIds,
  venues: section({
    where: domain.says('Which partners are venues, as an Odoo domain.'),
    ...listKeys.venues,
  }).says('The partners that are venues, and what differs from the usual mapping.'),
})
  .says('Events of Odoo (docs/crm/odoo.md).')
  .map(settingsOfConnector(({ url, database }) => ({ url, database })))

const object = text('the name of an object, such as Event__c', /^[A-Za-z]\w*$/)

export const salesforce = section({
  kind: word('salesforce'),
  url: apiUrl('https://example.my.salesforce.com').says('The org’s own domain.'),
  clientId: text('the consumer key', /^[\w.-]+$/).says('The consumer key of the connected app.'),
  clientSecret: key.says('The consumer secret. Its file is read again when Salesforce refuses it.'),
  apiVersion: text('a version such as v64.0', /^v\d\d\.0$/)
    .default('v64.0')
    .says('The version of the REST API.'),
  ...keysWithIds,
  events: section({ from: object.says('The object of events.'), ...listKeys.events }).says('The events.'),
  venues: section({ from: object.says('The object of venues.'), ...listKeys.venues }).says('The venues.'),
})
  .says('Two objects of a Salesforce org (docs/crm/salesforce.md).')
  .map(settingsOfConnector(({ url }) => ({ url })))

export const civicrm = section({
  kind: word('civicrm'),
  url: apiUrl('https://example.org').says('The address of the site; `/civicrm/ajax/api4` is added to it.'),
  key: key.says('The API key of a contact. Its file is read again when CiviCRM refuses it.'),
  ...keysWithIds,
})
  .says('Events of CiviCRM (docs/crm/civicrm.md).')
  .map(settingsOfConnector(({ url }) => ({ url })))
