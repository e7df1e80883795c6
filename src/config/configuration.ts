// The configuration. In: a YAML file and its environment. Out: a Configuration of checked values, or problems with
// their lines.

import { EVENTS } from '../domain/event.ts'
import type { ListName, RecordTable } from '../domain/field.ts'
import { type FurtherFields, FIELD_TYPE_OF } from '../domain/further.ts'
import { VENUES } from '../domain/venue.ts'
import { sharesAddress } from './values.ts'
import { command, moduleKeys } from './crm/own-process.ts'
import { listKeys } from './crm/connector-lists.ts'
import { dataverse } from './crm/dataverse.ts'
import { files } from './crm/files.ts'
import type { SaidList } from './crm/sources.ts'
import { http, civicrm, odoo, salesforce } from './crm/http.ts'
import { postgres } from './crm/postgres.ts'
import { type General, type SettingsOfKind, GENERAL, isStore } from './general.ts'
import { byKind, section } from './key.ts'
import { nearestName } from '../domain/nearest-name.ts'
import type { Secret } from '../domain/secret.ts'
import { type FileProblems, type Problem, PROBLEM, Place, noProblems, renderProblem } from './config-problem.ts'
import { treeOf } from './tree.ts'
import { isLoopback, isPlain } from '../domain/host.ts'

/** The kinds of CRM. A new one is a file in crm/ and its line here. */
const CRM = { files, dataverse, postgres, odoo, salesforce, civicrm, http, module: moduleKeys, command }

type Kinds = typeof CRM

/** The settings of the configured kind of CRM, or of the given kinds. */
export type CrmSettings<Given extends keyof Kinds = keyof Kinds> = {
  [Kind in Given]: SettingsOfKind<Kinds[Kind]>
}[Given]

/** All settings, checked, with defaults filled in; deeply frozen. */
export interface Configuration extends General {
  /** Whether the file sets the zone of dates without an offset. */
  readonly isTimeZoneSet: boolean
  readonly crm: CrmSettings
}

export type WebhookSettings = Configuration['webhooks'][number]

export type ClusterSettings = NonNullable<Configuration['cluster']>

/** The keys of the whole file, from which its documentation is generated. */
export const KEYS = {
  ...GENERAL,
  crm: byKind<(general: General) => CrmSettings>(
    CRM,
    'add where events and venues come from, such as crm: { kind: files, directory: ./crm }',
  )
    .says('The source of events and venues.')
    // Problems in the section have been reported; rules between other keys are still checked.
    .nullIfInvalid(),
} as const

/** The settings that rules check. A rule reads keys of `crm` one by one: other keys beside them may have problems. */
interface Settings extends General {
  /** Returns a value such as that of `events.from`; undefined if it has a problem or is not in the file. */
  readonly crm: (key: string) => unknown
}

/** The shortest maximum age in a cluster: followers' data is several heartbeats old. */
const CLUSTER_MAX_AGE_MS = 1000

/** A condition between several keys, checked only if those keys have no problems themselves. */
interface Rule {
  readonly key: string
  /** The related key, whose line is reported if `key` is not in the file. */
  readonly because: string
  /** Further keys that the rule reads. */
  readonly reads: readonly string[]
  readonly isBroken: (settings: Settings) => boolean
  readonly message: string
}

/** All conditions between keys. Conditions on a single value are part of its key. */
const RULES: readonly Rule[] = [
  {
    key: 'operations.token',
    because: 'operations.host',
    reads: ['operations'],
    isBroken: ({ operations }) => operations !== null && operations.token === null && !isLoopback(operations.host),
    message:
      'is missing; it is required if operations.host is not loopback: give { env: NAME } or { file: PATH }, or listen on 127.0.0.1',
  },
  {
    key: 'operations.port',
    because: 'listen.port',
    reads: ['operations', 'operations.host', 'listen', 'listen.host'],
    isBroken: ({ listen, operations }) =>
      operations?.port === listen.port && listen.port !== 0 && sharesAddress(listen.host, operations.host),
    message: 'is the same as listen.port; set another port, or start with --operations-port 0 for any free one',
  },
  ...(['url', 'authority'] as const).map((name): Rule => ({
    key: `crm.${name}`,
    because: 'crm',
    reads: ['crm.allowInsecure'],
    isBroken({ crm }) {
      const address = crm(name)
      const isRefused = crm('kind') === 'dataverse' && crm('allowInsecure') === false
      return isRefused && typeof address === 'string' && isPlain(address)
    },
    message: 'must begin with https:, since it carries secrets; crm.allowInsecure: true allows http:',
  })),
  {
    key: 'crm.directory',
    because: 'crm',
    reads: ['crm.events', 'crm.events.from', 'crm.venues', 'crm.venues.from'],
    isBroken: ({ crm }) =>
      crm('kind') === 'files' &&
      crm('directory') === null &&
      [crm('events.from'), crm('venues.from')].some((from) => !isWebFile(from)),
    message: 'is missing; it must be the directory that holds events and venues',
  },
  {
    key: 'crm.user',
    because: 'crm.version',
    reads: ['crm'],
    isBroken: ({ crm }) => crm('kind') === 'odoo' && Number(crm('version')) < 19 && crm('user') === null,
    message: 'is missing; Odoo 17 and 18 need the user whose API key it is',
  },
  {
    key: 'freshness.fullReadEvery',
    because: 'freshness.refreshEvery',
    reads: ['freshness', 'freshness.maxAge'],
    isBroken: ({ freshness: { refreshEveryMs, fullReadEveryMs } }) => fullReadEveryMs < refreshEveryMs,
    message:
      'must not be shorter than freshness.refreshEvery (default: 5s, or half of freshness.maxAge if that is less)',
  },
  {
    key: 'crm.idScanEvery',
    because: 'freshness.maxAge',
    reads: ['crm', 'freshness'],
    isBroken: ({ freshness, crm }) => crm('kind') === 'postgres' && Number(crm('idScanEvery')) > freshness.maxAgeMs,
    message: 'must not be longer than freshness.maxAge, or every request would wait for an id scan',
  },
  {
    key: 'representation.currency',
    because: 'feeds.jsonLd',
    reads: ['feeds', 'representation'],
    isBroken: ({ feeds, representation }) => feeds.jsonLd && representation.currency === null,
    message: 'is missing; it is needed if feeds.jsonLd is on: three capital letters (ISO 4217), such as GBP',
  },
  {
    key: 'feeds.changes',
    because: 'webhooks',
    reads: ['feeds', 'webhooks'],
    isBroken: ({ feeds, webhooks }) => webhooks.length > 0 && !feeds.changes,
    message: 'is off; webhooks need it on: receivers ask there for what has changed',
  },
  {
    key: 'cluster.url',
    because: 'cluster',
    reads: ['cluster.allowInsecure'],
    isBroken: ({ cluster }) => cluster !== null && !cluster.allowInsecure && isPlainStore(cluster),
    message: 'must begin with rediss:, since it carries secrets; cluster.allowInsecure: true allows redis:',
  },
  {
    key: 'freshness.maxAge',
    because: 'cluster',
    reads: ['freshness'],
    isBroken: ({ cluster, freshness: { maxAgeMs } }) => cluster !== null && maxAgeMs < CLUSTER_MAX_AGE_MS,
    message: 'must be at least 1s if cluster is set: the data of followers is several heartbeats old',
  },
  {
    key: 'freshness.refreshEvery',
    because: 'cluster',
    reads: ['freshness', 'freshness.maxAge'],
    isBroken: ({ cluster, freshness: { maxAgeMs, refreshEveryMs } }) =>
      cluster !== null && refreshEveryMs > maxAgeMs / 2,
    message: 'must be at most half of freshness.maxAge if cluster is set',
  },
  {
    key: 'cluster.heartbeat',
    because: 'cluster',
    reads: ['freshness', 'freshness.maxAge'],
    isBroken: ({ cluster, freshness: { maxAgeMs } }) => (cluster?.heartbeatMs ?? 0) > maxAgeMs / 10,
    message:
      'must be at most a tenth of freshness.maxAge: the data of followers counts as up to two heartbeats older than it is, and a lost leader is noticed after four',
  },
]

function isWebFile(from: unknown): boolean {
  return typeof from === 'object' && from !== null && 'url' in from
}

export function brokenRules(general: General, inFile: FileProblems): Problem[] {
  const { file, problems, doubtful, values } = inFile
  const settings = { ...general, crm: (key: string) => values.get(`crm.${key}`)?.value }
  const wrong = new Set([...problems.map(({ key }) => key), ...doubtful])
  return RULES.flatMap(({ key, because, reads, isBroken, message }) => {
    if ([key, because, ...reads].some((read) => wrong.has(read)) || !isBroken(settings)) return []
    const line = values.get(key)?.line ?? values.get(because)?.line ?? null
    return [{ file, key, line, found: null, message }]
  })
}

const DAY_MS = 86_400_000
const MANY_CALLS = 10_000

/**
 * Warns about valid settings that are most likely mistakes, one sentence each. Shows no values, which may come from `{
 * env }`.
 */
export function warningsOf({ crm, freshness, representation }: Configuration): readonly string[] {
  const { refreshEveryMs, maxAgeMs } = freshness
  const { links, page, further } = representation
  const warnings: string[] = []
  if (maxAgeMs > 0 && refreshEveryMs > maxAgeMs)
    warnings.push('freshness.refreshEvery is longer than freshness.maxAge: requests will have to wait for refreshes')
  // Of each list: the changes and the deletions at each refresh, and all ids at half the maximum age.
  const callsADay = Math.round(DAY_MS * 2 * (2 / refreshEveryMs + 2 / Math.max(maxAgeMs, refreshEveryMs)))
  if (crm.kind === 'salesforce' && callsADay > MANY_CALLS)
    warnings.push(
      `Salesforce counts API calls, and this configuration needs about ${callsADay.toLocaleString('en')} a day: set freshness.refreshEvery and freshness.maxAge to what the org allows`,
    )
  if (crm.kind === 'http') warnings.push(...httpWarnings(crm))
  for (const table of [EVENTS, VENUES]) {
    for (const [index, { href }] of links[table.kind].entries())
      warnings.push(
        ...misspelt(`representation.links.${table.kind}[${index}].href`, href, filledFields(table, further)),
      )
  }
  if (page !== null) warnings.push(...misspelt('representation.page', page, filledFields(EVENTS, further)))
  return warnings
}

function httpWarnings(crm: Extract<Configuration['crm'], { kind: 'http' }>): readonly string[] {
  const warnings: string[] = []
  if (crm.auth?.query)
    warnings.push(
      'crm.auth.query puts the key into URLs, which are logged on the way: use a header if the API takes one',
    )
  for (const list of ['events', 'venues'] as const) {
    const { paging, query, body } = crm[list]
    if (paging.by === 'offset' && !/sort|order/i.test(JSON.stringify([query, body])))
      warnings.push(
        `crm.${list} is read by offset, and its request has no sort or order: rows move between pages unless the API keeps an order that never changes`,
      )
  }
  return warnings
}

interface FilledField {
  readonly name: string
  readonly isText: boolean
}

function filledFields({ list, fields }: RecordTable, further: FurtherFields): readonly FilledField[] {
  const own = fields.map(({ name, type }) => ({ name, isText: type === 'text' }))
  return [...own, ...further[list].map(({ name, type }) => ({ name, isText: FIELD_TYPE_OF[type] === 'text' }))]
}

function misspelt(key: string, href: string, fields: readonly FilledField[]): readonly string[] {
  const warnings: string[] = []
  const names = fields.map(({ name }) => name)
  for (const [, name = ''] of href.matchAll(/\{\+?(\w+)\}/g)) {
    const near = names.includes(name) ? null : nearestName(name, names)
    if (near !== null)
      warnings.push(
        `${key} contains a name in braces that is not a field and will not be filled in; did you mean {${near}}?`,
      )
  }
  const [, plus, first = ''] = /^\{(\+?)(\w+)\}/.exec(href) ?? []
  if (plus === '' && fields.some(({ name, isText }) => name === first && isText))
    warnings.push(`${key} begins with {${first}}, whose value is percent-encoded and so no address: write {+${first}}`)
  if (plus !== undefined && !names.includes(first) && nearestName(first, names) === null)
    warnings.push(
      `${key} begins with a name in braces that is not a field: declare it in representation.further, with the type url`,
    )
  if (/\{[^{}]*(?:\{|$)/.test(href)) warnings.push(`${key} has a { without a closing }`)
  return warnings
}

/** The operator's own programs that read the CRM, as they were at the start. */
export function ownCode(crm: CrmSettings): readonly { readonly file: string; readonly sha256: string }[] {
  if (crm.kind === 'command') return crm.run.files
  return crm.kind === 'module' ? [crm.path] : []
}

/** Returns true if data is sent to the store over the network unencrypted. */
function isPlainStore(store: Parameters<typeof isLoopbackStore>[0]): boolean {
  return new URL(store.url.reveal()).protocol === 'redis:' && !isLoopbackStore(store)
}

/** Returns true if the store is on this machine. With sentinels, it is if they are. */
export function isLoopbackStore({
  url,
  sentinel = null,
}: {
  readonly url: Pick<Secret, 'reveal'>
  readonly sentinel?: ClusterSettings['sentinel']
}): boolean {
  const hosts = sentinel?.nodes.map((node) => node.replace(/:\d+$/, '')) ?? [new URL(url.reveal()).hostname]
  return hosts.every((host) => isLoopback(host.replaceAll(/^\[|\]$/g, '')))
}

/** Returns true if a URL that was read again for `cluster.url` is as acceptable as at start-up. */
export function mayBeStore(address: Pick<Secret, 'reveal'>, allowInsecure: boolean): boolean {
  const parsed = URL.parse(address.reveal())
  return parsed !== null && isStore(parsed) && (allowInsecure || !isPlainStore({ url: address }))
}

/** Reads what a connector declares about one list, by the same keys as the configuration. A problem is a sentence. */
export function readConnectorList(
  name: ListName,
  declaration: unknown,
  file: string,
  further: FurtherFields,
): { readonly ok: true; readonly list: SaidList } | { readonly ok: false; readonly problem: string } {
  const inFile = { ...noProblems(file, ''), further: { ...further } }
  const key = section(listKeys[name])
  const read = key.read(treeOf(declaration), new Place(inFile).in(name, undefined))
  const [problem] = inFile.problems
  if (read !== PROBLEM && problem === undefined) return { ok: true, list: read }
  const unnamed = { file, key: name, found: null, message: 'cannot be read' }
  return { ok: false, problem: renderProblem({ ...(problem ?? unnamed), line: null }) }
}
