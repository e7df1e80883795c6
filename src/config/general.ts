import { join } from 'node:path'
import {
  basePath,
  host,
  duration,
  durationOrOff,
  flag,
  path,
  secretText,
  size,
  sizeOrAuto,
  text,
  timeZone,
  wholeNumber,
  textSchema,
} from './values.ts'
import { type ValueSchema, type SettingsOf, Key, leaf, ValueProblem, scalarOf, wholeKey, list, section } from './key.ts'
import { IN_THE_FILE, Secret } from '../domain/secret.ts'
import type { ListName } from '../domain/field.ts'
import { FURTHER_NAME, takenName } from '../domain/further-names.ts'
import { type FurtherField, type FurtherType, FURTHER_TYPES } from '../domain/further.ts'
import { type Place, PROBLEM } from './config-problem.ts'
import { nearestName } from '../domain/nearest-name.ts'
import type { MapTree, Tree } from './tree.ts'
import { webhooks } from './webhook-keys.ts'

const ALLOWED = `a mapping of names to types (${FURTHER_TYPES.join(', ')}), such as { Description: text, Doors: date-time }`

const SCHEMA: ValueSchema = {
  type: 'object',
  additionalProperties: { enum: [...FURTHER_TYPES] },
  propertyNames: { pattern: FURTHER_NAME.source },
}

/** The key `representation.further.<list>`: the further fields of a list, in the order of their declaration. */
function furtherKey(of: ListName): Key<readonly FurtherField[]> {
  const key = wholeKey(ALLOWED, SCHEMA, (node, place) => (node.kind === 'map' ? declaredBy(node, of, place) : null))
  const read: typeof key.read = (node, place) => {
    // Wrong ones too: they are reported here, and must not be reported again where they are mapped.
    if (node?.kind === 'map')
      place.inFile.further[of] = Array.from(node.entries, ([name, inner]) => ({ name, type: typeOf(inner) ?? 'text' }))
    return key.read(node, place)
  }
  return new Key(read, key.notes, key.unit)
    .orNull()
    .optional()
    .map((declared) => declared ?? [])
}

function declaredBy(node: MapTree, of: ListName, place: Place): readonly FurtherField[] | typeof PROBLEM {
  const declared: FurtherField[] = []
  let isRight = true
  for (const [name, inner] of node.entries) {
    const inside = place.in(name, inner)
    const other = takenName(of, name) ?? declared.find((one) => one.name.toLowerCase() === name.toLowerCase())?.name
    const type = typeOf(inner)
    if (!FURTHER_NAME.test(name)) {
      inside.report('is not a name for a further field: it must be a capital letter and up to 63 letters and digits')
    } else if (other !== undefined) {
      inside.report(`is a name that is taken: ${of} have ${other}; choose another`)
    } else if (type === null) {
      const word = scalarOf(inner)?.value
      const near = typeof word === 'string' && inner.kind !== 'reference' ? nearestName(word, FURTHER_TYPES) : null
      inside.refuse(
        inner,
        `must be one of ${FURTHER_TYPES.join(', ')}${near === null ? '' : `; did you mean ${near}?`}`,
      )
    }
    isRight &&= FURTHER_NAME.test(name) && other === undefined && type !== null
    declared.push({ name, type: type ?? 'text' })
  }
  return isRight ? declared : PROBLEM
}

function typeOf(node: Tree): FurtherType | null {
  const word = scalarOf(node)?.value
  return FURTHER_TYPES.find((type) => type === word) ?? null
}

const URL_ALLOWED = 'a URL such as rediss://user@host:6379/0, with its password only by { env: NAME } or { file: PATH }'

export function isStore({ hostname, protocol }: URL): boolean {
  return hostname !== '' && (protocol === 'rediss:' || protocol === 'redis:')
}

const url = leaf(
  URL_ALLOWED,
  textSchema(/^\s*[Rr][Ee][Dd][Ii][Ss]{1,2}:\/\/(?!.*:[^/@]+@)(?:[^/?#%]|%[0-9A-Fa-f]{2})+(?:\/\d{0,4})?\s*$/),
  ({ value, reference }) => {
    const address = typeof value === 'string' ? URL.parse(value.trim()) : null
    if (typeof value !== 'string' || address === null || !isStore(address)) return null
    if (!/^(?:\/\d{0,4})?$/.test(address.pathname + address.search + address.hash))
      return new ValueProblem('must end with the number of a database, such as /0, without ? or #', true)
    if (/%(?![\da-f]{2})/i.test(address.username + address.password))
      return new ValueProblem('contains a % without two hex digits; write %25', true)
    // A secret, because it usually contains a password.
    return new Secret(value.trim(), reference ?? IN_THE_FILE)
  },
)

const cluster = section({
  url: url.says('The primary of a Redis or Valkey server, 6.2 or later; `rediss:` uses TLS.'),
  name: text('letters, digits, _ and -, such as marquee', /^[\w-]{1,64}$/)
    .default('marquee')
    .says('Separates several clusters in one store.'),
  ca: path('the path of a PEM file').optional('the certificates of the system').says('Certificates to trust.'),
  heartbeat: duration({ leastMs: 50 })
    .optional('a twentieth of the maximum age, `50ms` to `500ms`')
    .says(
      'How often the leader announces the age of its data, and the others that they are alive; at most a tenth of the maximum age.',
    ),
  readAlone: flag()
    .default(true)
    .says(
      'Whether an instance reads the CRM for itself once the store is lost for half of the maximum age; `false` if the CRM cannot bear that.',
    ),
  sentinel: section({
    name: text('letters, digits, ., _ and -, such as mymaster', /^[\w.-]{1,100}$/).says('The name of the primary.'),
    nodes: list(text('HOST:PORT', /^(?:[\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/).says('A sentinel.')).says('The sentinels.'),
  })
    .optional('`url` names the primary')
    .says('The sentinels that name the primary. The host and port in `url` are then not used.'),
  allowInsecure: flag()
    .default(false)
    .says('Allows `redis:` to another machine, which is neither encrypted nor verified.'),
})

const port = (usual: number): Key<number> =>
  wholeNumber(0, 65_535).default(usual).says('The port; 0 takes any free port and prints it.')

const MOST_OFTEN_MS = 10

const USUAL_FULL_READ_MS = 15 * 60_000

/**
 * The default of `refreshEvery`: 5 s or half the maximum age, whichever is less. With a maximum age of 0, each request
 * refreshes, so 5 s is enough.
 */
function usualRefreshMs(maxAgeMs: number): number {
  return maxAgeMs === 0 ? 5000 : Math.max(MOST_OFTEN_MS, Math.min(5000, Math.floor(maxAgeMs / 2)))
}

/** Characters that need no escaping in the namespace's URI, in XML or in .NET. */
const NAMESPACE = /^(?=.{1,200}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

const TOKEN = /^[^\s\p{Cc}\p{Cs}]+$/u

const WEB_ADDRESS = /^(?:https?:\/\/[^\s\p{Cc}\p{Cs}]+|\{\+\w+\})$/u

/** Returns true if a text is a URL once the fields in braces are filled in. */
function isTemplateOfUrl(template: string): boolean {
  return URL.canParse(template.replace(/^\{\+\w+\}/, 'https://x').replaceAll(/\{\+?\w+\}/g, 'x'))
}

const LANGUAGE = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/

function isLanguage(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

const links = list(
  section({
    rel: text('a link relation without blanks, such as tickets', TOKEN).says('The relation of the link.'),
    href: text('a URL without blanks, such as https://tickets.example.org/{Id}', TOKEN).says(
      'The target. `{Id}` and other fields are filled in, percent-encoded; `{+Tickets}` is a field that holds an address, and the link is left out if that is blank or not absolute; a name that is not a field stays and makes the link a template.',
    ),
    title: text('text', /^/).orNull().default(null).says('The title for people; null for none.'),
  }),
)

/** All keys but `crm`; all have defaults. */
export const GENERAL = {
  listen: section({
    host: host().default('127.0.0.1').says('The address to listen on; 0.0.0.0 is every IPv4 address of the machine.'),
    port: port(8080),
    basePath: basePath().default('/').says('The prefix of all paths, and of the links in the HAL formats.'),
  }).says('The listener for callers.'),
  operations: section({
    host: host().default('127.0.0.1').says('The address to listen on; anything but loopback needs a token.'),
    port: port(8081),
    // RFC 6750 §2.1: the characters of a bearer token.
    token: secretText('letters, digits and -._~+/ (a bearer token)', (value) => /^[\w.~+/-]+=*$/.test(value))
      .orNull()
      .default(null)
      .says(
        'The token that callers must send as `Authorization: Bearer`, except for `/live` and `/ready`; null requires none.',
      ),
  })
    .orNull()
    .says('Health, metrics and the dashboard, on a separate listener; null switches it off.'),
  timeZone: timeZone().default('UTC').says('The time zone in which Start and Finish are shown.'),
  freshness: section({
    maxAge: duration().default('30s').says('The maximum age of answers; 0 makes every request wait for a refresh.'),
    refreshEvery: duration({ leastMs: MOST_OFTEN_MS })
      .optional('`5s`, or half the maximum age if that is less')
      .says('How often the lists are refreshed in the background.'),
    fullReadEvery: duration({ leastMs: MOST_OFTEN_MS })
      .optional('`15m`, or `refreshEvery` if that is more')
      .says('How often both lists are read in full, to find changes that the CRM did not report.'),
    staleIfError: duration()
      .default('0s')
      .says(
        'How long to keep answering past the maximum age while the CRM fails, e.g. `12h` if it is off at night. With 0, callers get 502.',
      ),
    shrinkGuard: durationOrOff('24h')
      .default('24h')
      .says(
        'How long the old list is served if the new one lacks more than half of its records (gone or unreadable), until `./marquee accept`. With 0, callers get 502 past the maximum age; `off` believes every list.',
      ),
  })
    .map((freshness) => {
      const refreshEveryMs = freshness.refreshEveryMs ?? usualRefreshMs(freshness.maxAgeMs)
      const fullReadEveryMs = freshness.fullReadEveryMs ?? Math.max(USUAL_FULL_READ_MS, refreshEveryMs)
      return { ...freshness, refreshEveryMs, fullReadEveryMs }
    })
    .says('How old answers may be.'),
  representation: section({
    namespace: text('letters, digits, _ and -, in parts joined by dots', NAMESPACE)
      .default('Marquee')
      .says('The part of the version 1 XML namespace before `.Representations.V1`.'),
    links: section({
      event: links.says('Links of every event.'),
      venue: links.says('Links of every venue.'),
    }).says('Additional links, after all others.'),
    further: section({
      events: furtherKey('events').says(
        'Further fields of every event, in this order, each with its type. `crm.events.fields` maps them as any other field.',
      ),
      venues: furtherKey('venues').says('Further fields of every venue.'),
    }).says('Fields of the organisation’s own, besides those of the contract. They take effect at a restart.'),
    page: text(
      'the http or https URL of a page, such as https://www.example.org/whats-on/{Id}',
      WEB_ADDRESS,
      isTemplateOfUrl,
    )
      .orNull()
      .default(null)
      .says('The web page of an event, which calendars and JSON-LD name. Fields are filled in as in links.'),
    currency: text('three capital letters (ISO 4217), such as GBP', /^[A-Z]{3}$/)
      .orNull()
      .default(null)
      .says('The currency of prices; JSON-LD needs it.'),
  }).says('The representation of records.'),
  feeds: section({
    calendar: flag().default('off').says('Whether `/api/events.ics` and `/api/events/{id}.ics` answer with iCalendar.'),
    jsonLd: flag()
      .default('off')
      .says(
        'Whether events are also answered as JSON-LD (schema.org), for search engines; needs `representation.currency`.',
      ),
    atom: flag()
      .default('off')
      .says('Whether `/api/events.atom` answers with what is on, for feed readers and newsletters.'),
    changes: flag()
      .default('off')
      .says('Whether `/api/changes` tells which events and venues have changed ([Changes](changes.md)).'),
    calendarName: text('text that is not blank', /\S/)
      .orNull()
      .default(null)
      .says('The name of the calendar, and of the Atom feed, that people subscribe to.'),
    language: text('a language tag (BCP 47), such as de or en-GB', LANGUAGE, isLanguage)
      .default('en-GB')
      .says('The language of dates in words, in the Atom feed.'),
  }).says('Calendars, Atom, JSON-LD and changes (docs/consuming.md).'),
  webhooks: webhooks.says(
    'Receivers that are called after a change ([Webhooks](webhooks.md)); they need `feeds.changes`.',
  ),
  conditionalRequests: flag()
    .default(false)
    .says('Whether `If-None-Match` may be answered with 304 (RFC 9110); off ignores it.'),
  lists: flag()
    .default('off')
    .says(
      'Whether `/api/events` and `/api/venues` list all events and venues, and `/api/tags` counts tags; off answers 400 at the first two.',
    ),
  describe: flag()
    .default('on')
    .says(
      'Whether `/api/openapi.json`, and a page for browsers at the base path, describe the service; off answers 404 there.',
    ),
  limits: section({
    waiting: wholeNumber(0, 1_000_000)
      .default(1000)
      .says('How many requests may wait for a refresh at once; further ones get 502.'),
    waitFor: duration().default('10s').says('How long a request may wait for a refresh; then 502.'),
    idle: duration({ leastMs: 1000 })
      .default('75s')
      .says(
        'How long an idle connection is kept open at least. Must be longer than the keep-alive time of a load balancer in front.',
      ),
    drain: duration()
      .default('10s')
      .says(
        'How long requests in progress may take after a stop signal; a second signal, at least a second later, ends at once, with exit status 1.',
      ),
    memory: size()
      .default('2GB')
      .says('The memory limit of all lists, including withheld rows; a larger list is refused and the old one kept.'),
    readyBodies: sizeOrAuto()
      .default('auto')
      .says(
        'The memory for bodies that are kept ready to send, of both lists together, besides `memory`; `auto` is an eighth of the memory that the process may use, 128MB to 2GB.',
      ),
  }).says('Limits on requests and memory.'),
  snapshot: section({
    directory: path('the path of a directory')
      .orNull()
      .override('`$STATE_DIRECTORY`, else `.marquee` beside this file')
      .says(
        'The directory, created if it is missing; only the service may write to it. Null switches the snapshot off.',
      ),
  })
    .orNull()
    .map((snapshot, { inFile: { folder, stateDirectory } }) => {
      const directory =
        snapshot?.directory === undefined ? (stateDirectory ?? join(folder, '.marquee')) : snapshot.directory
      return snapshot === null || directory === null ? null : { directory }
    })
    .says('The file from which a restart continues, instead of reading both lists in full; null switches it off.'),
  cluster: cluster
    .orNull()
    .optional('none: a standalone instance')
    .says('The store of a cluster, of which one instance reads the CRM (docs/instances.md).'),
  log: section({
    requests: flag()
      .default(false)
      .says('Whether to log each request: method, path, status, type, duration, and the trace id of a `traceparent`.'),
  }).says('The log on standard output: JSON lines, or sentences on a terminal.'),
} as const

export type General = SettingsOf<typeof GENERAL>

/**
 * What the settings of each kind of CRM say about themselves. Functions, since a reload compares all settings that are
 * values.
 */
export interface CrmTraits {
  /** The settings that shape records: where they are read, and how fields are found. */
  readonly shaping: () => unknown
  /** What precedes the CRM's ids in the names of UUIDs, for events and for venues; `null` if its ids are GUIDs. */
  readonly idNames: () => readonly [events: string, venues: string] | null
  /** Whether the price of an event is the lowest of several. */
  readonly isLowestPrice: () => boolean
}

/** The settings of a kind of CRM, which are a function of the general ones. */
export type SettingsOfKind<Kind> = Kind extends Key<(general: General) => infer Settings> ? Settings : never
