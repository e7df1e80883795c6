import { join } from 'node:path'
import { basePath, host } from './addresses.ts'
import { duration, durationOrOff, flag, path, secretText, size, text, timeZone, wholeNumber } from './values.ts'
import type { Key } from './key.ts'
import { type SettingsOf, list, section } from './section.ts'
import { cluster } from './cluster-settings.ts'

const port = (usual: number): Key<number> =>
  wholeNumber(0, 65_535).default(usual).says('The port; 0 takes any free one, which is printed.')

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

const links = list(
  section({
    rel: text('a link relation without blanks, such as tickets', TOKEN).says('The relation of the link.'),
    href: text('a URL without blanks, such as https://tickets.example.org/{Id}', TOKEN).says(
      'Where it leads. `{Id}` and the other fields are filled in, percent-encoded; a name that is not a field stays, as a template.',
    ),
    title: text('text', /^/).orNull().default(null).says('What people read; null for none.'),
  }),
)

/** All keys but `crm`; all have defaults. */
export const GENERAL = {
  listen: section({
    host: host().default('127.0.0.1').says('The address to listen on; 0.0.0.0 is every IPv4 address of the machine.'),
    port: port(8080),
    basePath: basePath().default('/').says('Every path, and the links of the HAL formats, live under it.'),
  }).says('Where callers reach the service.'),
  operations: section({
    host: host().default('127.0.0.1').says('The address to listen on; anything but loopback needs a token.'),
    port: port(8081),
    // RFC 6750 §2.1: the characters of a bearer token.
    token: secretText('letters, digits and -._~+/ (a bearer token)', (given) => /^[\w.~+/-]+=*$/.test(given))
      .orNull()
      .default(null)
      .says('What callers must send as `Authorization: Bearer` for all but `/live` and `/ready`; null asks for none.'),
  })
    .orNull()
    .says('Health, metrics and the dashboard, on their own listener; null switches it off.'),
  timeZone: timeZone().default('UTC').says('What Start and Finish are shown in.'),
  freshness: section({
    maxAge: duration()
      .default('30s')
      .says('No answer is older than this; 0 makes every request wait for its own refresh.'),
    refreshEvery: duration({ leastMs: MOST_OFTEN_MS })
      .optional('`5s`, or half the maximum age where that is less')
      .says('How often the replica is brought up to date in the background.'),
    fullReadEvery: duration({ leastMs: MOST_OFTEN_MS })
      .optional('`15m`, or `refreshEvery` if that is more')
      .says('How often both lists are read in full, to find what the CRM does not report.'),
    staleIfError: duration()
      .default('0s')
      .says(
        'While the CRM fails, how far past the maximum age to go on answering; `12h` bridges a CRM that sleeps at night. 0 answers 502.',
      ),
    shrinkGuard: durationOrOff('24h')
      .default('24h')
      .says(
        'A list that lost more than half of its records, gone or unreadable, is not believed until `./marquee accept`: how long the old list is served on, however old it gets. 0 answers 502 past the maximum age; `off` believes every list.',
      ),
  })
    .map((given) => {
      const refreshEveryMs = given.refreshEveryMs ?? usualRefreshMs(given.maxAgeMs)
      const fullReadEveryMs = given.fullReadEveryMs ?? Math.max(USUAL_FULL_READ_MS, refreshEveryMs)
      return { ...given, refreshEveryMs, fullReadEveryMs }
    })
    .says('How old answers may be.'),
  representation: section({
    namespace: text('letters, digits, _ and -, in parts joined by dots', NAMESPACE)
      .default('Marquee')
      .says('The last but one part of the version 1 XML namespace, before `.Representations.V1`.'),
    links: section({
      event: links.says('Links of every event.'),
      venue: links.says('Links of every venue.'),
    }).says('Links appended after all others.'),
  }).says('What the answers look like.'),
  conditionalRequests: flag()
    .default(false)
    .says('Whether `If-None-Match` is answered with 304 as RFC 9110 says; off ignores it.'),
  lists: flag()
    .default('off')
    .says('Whether `/api/events` and `/api/venues` answer with what is on and where; off answers 400 there.'),
  describe: flag()
    .default('on')
    .says(
      'Whether `/api/openapi.json`, and a page for browsers at the base path, say what can be asked here; off answers 404 there.',
    ),
  limits: section({
    waiting: wholeNumber(0, 1_000_000)
      .default(1000)
      .says('How many requests may wait for a refresh at once; the others get 502.'),
    waitFor: duration().default('10s').says('How long a request may wait for a refresh; then 502.'),
    idle: duration({ leastMs: 1000 })
      .default('75s')
      .says('The least that an idle connection lives; longer than the keep-alive of the load balancer in front.'),
    drain: duration()
      .default('10s')
      .says('What a stop grants requests in flight; a second signal ends at once, with exit status 1.'),
    memory: size()
      .default('2GB')
      .says('Of all that is held of the lists, withheld rows included; a larger list is refused and the old one kept.'),
  }).says('What may not grow without end.'),
  snapshot: section({
    directory: path('the path of a directory')
      .orNull()
      .override('`$STATE_DIRECTORY`, else `.marquee` beside this file')
      .says('Nobody but the service may write it; it is made where it is missing. Null switches the snapshot off.'),
  })
    .orNull()
    .map((given, { findings: { folder, stateDirectory } }) => {
      const directory = given?.directory === undefined ? (stateDirectory ?? join(folder, '.marquee')) : given.directory
      return given === null || directory === null ? null : { directory }
    })
    .says('What a restart goes on from instead of reading both lists in full; null switches it off.'),
  cluster: cluster
    .orNull()
    .optional('this instance stands alone')
    .says('What several instances share, of which one reads the CRM (docs/instances.md).'),
  log: section({
    requests: flag()
      .default(false)
      .says('A line for each request: method, path, status, type, duration, and the trace id of a `traceparent`.'),
  }).says('What is written to standard output: JSON lines, on a terminal sentences.'),
} as const

export type General = SettingsOf<typeof GENERAL>

/** The settings of a kind of CRM, which are a function of the general ones. */
export type SettingsOfKind<Kind> = Kind extends Key<(general: General) => infer Settings> ? Settings : never
