import { resolve } from 'node:path'

const PATH =
  'must be a path such as / or /events-service, without ? and #, backslashes, empty parts (//) and the parts . and .., with two hex digits after each %, at most 1000 characters'
const DURATION = 'must be a duration such as 500ms, 30s, 15m or 2h'
const PORT = 'must be a whole number from 0 to 65535'
const HOST = 'must be an IP address or a host name such as 127.0.0.1, 0.0.0.0, ::1 or localhost, without a port'
const ROOM = 'must be auto, or a size such as 256MB or 2GB, at least 1MB'
const SIZE = 'must be a size such as 512MB, 2GB or 2GiB, at least 1KB'
const FLAG = 'must be on, off, true or false'
const GUARD = 'must be a duration such as 24h, or off'
const ZONE = 'must be an IANA time zone such as UTC or Europe/London'
const NAMESPACE = 'must be letters, digits, _ and -, in parts joined by dots'
const REL = 'must be a link relation without blanks, such as tickets'
const HREF = 'must be a URL without blanks, such as https://tickets.example.org/{Id}'
const KINDS = 'one of files, dataverse, postgres, odoo, salesforce, civicrm, http, module, command'
const SECRET = 'must not be written in the file; give { env: NAME } or { file: PATH }'
const STORE = 'a URL such as rediss://user@host:6379/0, with its password only by { env: NAME } or { file: PATH }'
const TOKEN = 'must be letters, digits and -._~+/ (a bearer token), given as { env: NAME } or { file: PATH }'
const HOOK_URL =
  'must be an https URL such as https://hooks.example.org/build, or http to localhost, 127.0.0.1 or [::1], without a user and without #'
const HOOK_SECRET = 'whsec_ and the base64 of 24 to 64 random bytes, given as { env: NAME } or { file: PATH }'
const VARIABLE = 'must name an environment variable, of letters, digits and _: { env: NAME }'

/** Lines added to a valid configuration, and the expected problem after the file's name. */
export const WRONG: readonly (readonly [string, string])[] = [
  // Webhooks
  ...[
    'url: http://hooks.example.org/hunter2',
    'url: https://me@hooks.example.org/hunter2',
    'url: ftp://hooks.example.org/hunter2',
    'url: https:hunter2',
    'url: hunter2',
    'url: "https://hooks.example.org/hunter2#part"',
    'url: "http://localhost.:9000/hunter2"',
    'url: "http://[::ffff:127.0.0.1]/hunter2"',
  ].map((url): readonly [string, string] => [
    `feeds: { changes: on }\nwebhooks: [{ ${url}, body: empty }]`,
    `3: webhooks[0].url ${HOOK_URL}`,
  ]),
  [
    'webhooks: [{ url: https://hooks.example.org/, body: empty }]',
    '2: feeds.changes is off; webhooks need it on: receivers ask there for what has changed',
  ],
  [
    'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/ }]',
    `3: webhooks[0].secret is missing; it signs the body: ${HOOK_SECRET}`,
  ],
  [
    'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, secret: { env: BLANKS } }]',
    `3: webhooks[0].secret is the value in the environment variable BLANKS (not shown); it must be ${HOOK_SECRET}`,
  ],
  [
    'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, secret: whsec_hunter2 }]',
    `3: webhooks[0].secret ${SECRET}`,
  ],
  [
    'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, body: empty, every: 10ms }]',
    '3: webhooks[0].every is "10ms"; it must be a duration such as 500ms, 30s, 15m or 2h, at least 1s',
  ],
  [
    'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, body: empty, on: [tickets] }]',
    '3: webhooks[0].on[0] is "tickets"; it must be events or venues',
  ],
  [
    'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, body: empty, every: 5 }]',
    '3: webhooks[0].every is 5; it needs a unit: 5s, 5m or 5h',
  ],
  [
    'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, body: empty, on: [] }]',
    '3: webhooks[0].on names no list: leave it out for both, or name events, venues or both',
  ],
  [
    'feeds: { changes: on }\nwebhooks:\n  - { url: https://hooks.example.org/, body: empty }\n  - { url: https://hooks.example.org/, body: empty, on: [venues, events] }',
    '5: webhooks[1] has the url and the lists of one before it: remove one of them',
  ],
  // Unknown keys
  ['port: 80', '2: port is not a known key; did you mean listen.port?'],
  ['Listen: {}', '2: Listen is not a known key; did you mean listen?'],
  ['timezone: UTC', '2: timezone is not a known key; did you mean timeZone?'],
  ['limit: {}', '2: limit is not a known key; did you mean limits?'],
  ['listen: { prot: 80 }', '2: listen.prot is not a known key; did you mean port?'],
  ['listen: { basepath: / }', '2: listen.basepath is not a known key; did you mean basePath?'],
  ['freshness: { stale-if-error: 1s }', '2: freshness.stale-if-error is not a known key; did you mean staleIfError?'],
  ['freshness: { refresh_every: 1s }', '2: freshness.refresh_every is not a known key; did you mean refreshEvery?'],
  [
    'limits: { zzz: 1 }',
    '2: limits.zzz is not a known key; known here: waiting, waitFor, idle, drain, memory, readyBodies',
  ],
  [
    'limits: { constructor: 1 }',
    '2: limits.constructor is not a known key; known here: waiting, waitFor, idle, drain, memory, readyBodies',
  ],
  [
    'limits: { __proto__: { idle: 1s } }',
    '2: limits.__proto__ is not a known key; known here: waiting, waitFor, idle, drain, memory, readyBodies',
  ],
  [
    'toString: 1',
    '2: toString is not a known key; known here: listen, operations, timeZone, freshness, representation, feeds, webhooks, conditionalRequests, lists, describe, limits, snapshot, cluster, log, crm',
  ],
  [
    '<<: { a: 1 }',
    '2: "<<" is not a known key; known here: listen, operations, timeZone, freshness, representation, feeds, webhooks, conditionalRequests, lists, describe, limits, snapshot, cluster, log, crm',
  ],
  [
    '8080: 1',
    '2: 8080 is not a known key; known here: listen, operations, timeZone, freshness, representation, feeds, webhooks, conditionalRequests, lists, describe, limits, snapshot, cluster, log, crm',
  ],
  [
    '"a\\nb": 1',
    '2: "a\\nb" is not a known key; known here: listen, operations, timeZone, freshness, representation, feeds, webhooks, conditionalRequests, lists, describe, limits, snapshot, cluster, log, crm',
  ],
  // Cluster
  ['cluster: {}', `2: cluster.url is missing; it must be ${STORE}`],
  ['cluster: { url: store:6379 }', `2: cluster.url is "store:6379"; it must be ${STORE}`],
  ['cluster: { url: "http://store" }', `2: cluster.url is "http://store"; it must be ${STORE}`],
  [
    'cluster: { url: "rediss://store/main" }',
    '2: cluster.url must end with the number of a database, such as /0, without ? or #',
  ],
  [
    'cluster: { url: "rediss://store/0?tls=false" }',
    '2: cluster.url must end with the number of a database, such as /0, without ? or #',
  ],
  [
    'cluster: { url: "rediss://store", ca: ./none.pem }',
    `2: cluster.ca is ${JSON.stringify(resolve('none.pem'))}, which does not exist`,
  ],
  ['cluster: { url: "rediss://:word@store" }', `2: cluster.url ${SECRET}: it is a URL with a password in it`],
  ['cluster: { url: "rediss://50%@store" }', '2: cluster.url contains a % without two hex digits; write %25'],
  [
    'cluster: { url: "redis://store:6379" }',
    '2: cluster.url must begin with rediss:, since it carries secrets; cluster.allowInsecure: true allows redis:',
  ],
  [
    'cluster: { url: "rediss://store", name: "a:b" }',
    '2: cluster.name is "a:b"; it must be letters, digits, _ and -, such as marquee',
  ],
  [
    'cluster: { url: "rediss://store", heartbeat: 10ms }',
    `2: cluster.heartbeat is "10ms"; it ${DURATION}, at least 50ms`,
  ],
  ['cluster: { url: "rediss://store", readAlone: 3 }', '2: cluster.readAlone is 3; it must be on, off, true or false'],
  [
    'cluster: { url: "rediss://store" }\nfreshness: { maxAge: 999ms }',
    '3: freshness.maxAge must be at least 1s if cluster is set: the data of followers is several heartbeats old',
  ],
  [
    'cluster: { url: "rediss://store" }\nfreshness: { maxAge: 2s, refreshEvery: 1001ms }',
    '3: freshness.refreshEvery must be at most half of freshness.maxAge if cluster is set',
  ],
  [
    'cluster: { url: "rediss://store", heartbeat: 801ms }\nfreshness: { maxAge: 8s }',
    '2: cluster.heartbeat must be at most a tenth of freshness.maxAge: the data of followers counts as up to two heartbeats older than it is, and a lost leader is noticed after four',
  ],
  // Types
  ['listen: 8080', '2: listen is 8080; it must be a mapping with the keys host, port, basePath'],
  ['listen: []', '2: listen is an empty list; it must be a mapping with the keys host, port, basePath'],
  ['listen: { port: [80] }', `2: listen.port is a list; it ${PORT}`],
  ['listen: { port: { a: 1 } }', `2: listen.port is a mapping; it ${PORT}`],
  ['listen: { port: }', `2: listen.port is empty; it ${PORT}`],
  ['listen: { port: ~ }', `2: listen.port is empty; it ${PORT}`],
  ['operations: off', '2: operations is "off"; it must be a mapping with the keys host, port, token'],
  ['operations: false', '2: operations is false; it must be a mapping with the keys host, port, token'],
  ['representation: { links: { event: {} } }', '2: representation.links.event is a mapping; it must be a list'],
  [
    'representation: { links: [] }',
    '2: representation.links is an empty list; it must be a mapping with the keys event, venue',
  ],
  [
    'representation: { links: { event: [x] } }',
    '2: representation.links.event[0] is "x"; it must be a mapping with the keys rel, href, title',
  ],
  // Whole numbers
  ['listen: { port: http }', `2: listen.port is "http"; it ${PORT}`],
  ['listen: { port: -1 }', `2: listen.port is -1; it ${PORT}`],
  ['listen: { port: 65536 }', `2: listen.port is 65536; it ${PORT}`],
  ['listen: { port: 80.5 }', `2: listen.port is 80.5; it ${PORT}`],
  ['listen: { port: .inf }', `2: listen.port is Infinity; it ${PORT}`],
  ['listen: { port: .nan }', `2: listen.port is NaN; it ${PORT}`],
  ['listen: { port: true }', `2: listen.port is true; it ${PORT}`],
  ['listen: { port: "8080" }', `2: listen.port is "8080"; it ${PORT}, without quotes`],
  ['listen: { port: 8_080 }', `2: listen.port is "8_080"; it ${PORT}`],
  ['listen: { port: 127.0.0.1:80 }', `2: listen.port is "127.0.0.1:80"; it ${PORT}`],
  ['limits: { waiting: 1000001 }', '2: limits.waiting is 1000001; it must be a whole number from 0 to 1000000'],
  ['limits: { waiting: 1e400 }', '2: limits.waiting is Infinity; it must be a whole number from 0 to 1000000'],
  // Hosts
  ['listen: { host: "*" }', `2: listen.host is "*"; it ${HOST}`],
  ['listen: { host: "" }', `2: listen.host is ""; it ${HOST}`],
  ['listen: { host: http://x }', `2: listen.host is "http://x"; it ${HOST}`],
  ['listen: { host: localhost:80 }', `2: listen.host is "localhost:80"; it ${HOST}`],
  ['listen: { host: 999.1.1.1 }', `2: listen.host is "999.1.1.1"; it ${HOST}`],
  ['listen: { host: 127.1 }', `2: listen.host is 127.1; it ${HOST}`],
  ['listen: { host: "a b" }', `2: listen.host is "a b"; it ${HOST}`],
  ...['1.2.3.4.', '127.0.0.1.', '-a', 'a-', 'a.-b', 'a-.b'].map(
    (host) => [`listen: { host: "${host}" }`, `2: listen.host is "${host}"; it ${HOST}`] as const,
  ),
  // Base paths
  ['listen: { basePath: events }', `2: listen.basePath is "events"; it ${PATH}`],
  ['listen: { basePath: "" }', `2: listen.basePath is ""; it ${PATH}`],
  ['listen: { basePath: /a?b }', `2: listen.basePath is "/a?b"; it ${PATH}`],
  ['listen: { basePath: "/a#b" }', `2: listen.basePath is "/a#b"; it ${PATH}`],
  ['listen: { basePath: //a }', `2: listen.basePath is "//a"; it ${PATH}`],
  ['listen: { basePath: // }', `2: listen.basePath is "//"; it ${PATH}`],
  ['listen: { basePath: /a/../b }', `2: listen.basePath is "/a/../b"; it ${PATH}`],
  ['listen: { basePath: /%2e%2E }', `2: listen.basePath is "/%2e%2E"; it ${PATH}`],
  ['listen: { basePath: /50% }', `2: listen.basePath is "/50%"; it ${PATH}`],
  ['listen: { basePath: /a\\b }', `2: listen.basePath is "/a\\\\b"; it ${PATH}`],
  ['listen: { basePath: 5 }', '2: listen.basePath is 5; it must be a path such as / or /events-service'],
  // Durations
  ['freshness: { maxAge: 30 }', '2: freshness.maxAge is 30; it needs a unit: 30ms, 30s, 30m or 30h'],
  ['freshness: { maxAge: -1s }', `2: freshness.maxAge is "-1s"; it ${DURATION}`],
  ['freshness: { maxAge: -1 }', `2: freshness.maxAge is -1; it ${DURATION}`],
  ['freshness: { maxAge: 30 seconds }', `2: freshness.maxAge is "30 seconds"; it ${DURATION}`],
  ['freshness: { maxAge: 30S }', `2: freshness.maxAge is "30S"; it ${DURATION}`],
  ['freshness: { maxAge: 1.5h }', `2: freshness.maxAge is "1.5h"; it ${DURATION}`],
  ['freshness: { maxAge: 1d }', `2: freshness.maxAge is "1d"; it ${DURATION}`],
  ['freshness: { maxAge: PT30S }', `2: freshness.maxAge is "PT30S"; it ${DURATION}`],
  ['freshness: { maxAge: s }', `2: freshness.maxAge is "s"; it ${DURATION}`],
  ['freshness: { maxAge: "" }', `2: freshness.maxAge is ""; it ${DURATION}`],
  ['freshness: { maxAge: 577h }', '2: freshness.maxAge is "577h"; it must be at most 576h (24 days)'],
  [
    'freshness: { maxAge: 999999999999999h }',
    '2: freshness.maxAge is "999999999999999h"; it must be at most 576h (24 days)',
  ],
  ['freshness: { fullReadEvery: 720h }', '2: freshness.fullReadEvery is "720h"; it must be at most 576h (24 days)'],
  ['limits: { drain: 600h }', '2: limits.drain is "600h"; it must be at most 576h (24 days)'],
  ['limits: { idle: 600h }', '2: limits.idle is "600h"; it must be at most 576h (24 days)'],
  ['limits: { waitFor: 34561m }', '2: limits.waitFor is "34561m"; it must be at most 576h (24 days)'],
  ['freshness: { refreshEvery: 0s }', `2: freshness.refreshEvery is "0s"; it ${DURATION}, at least 10ms`],
  ['freshness: { fullReadEvery: 5ms }', `2: freshness.fullReadEvery is "5ms"; it ${DURATION}, at least 10ms`],
  ['limits: { idle: 900ms }', `2: limits.idle is "900ms"; it ${DURATION}, at least 1s`],
  // Sizes
  ['limits: { memory: 2 }', '2: limits.memory is 2; it needs a unit: 2MB or 2GB'],
  ['limits: { memory: 2G }', `2: limits.memory is "2G"; it ${SIZE}`],
  ['limits: { memory: 0GB }', `2: limits.memory is "0GB"; it ${SIZE}`],
  ['limits: { memory: 1.5GB }', `2: limits.memory is "1.5GB"; it ${SIZE}`],
  ['limits: { readyBodies: 512 }', '2: limits.readyBodies is 512; it needs a unit: 512MB or 512GB'],
  ['limits: { readyBodies: 999KB }', `2: limits.readyBodies is "999KB"; it ${ROOM}`],
  ['limits: { readyBodies: automatic }', `2: limits.readyBodies is "automatic"; it ${ROOM}`],
  ['limits: { readyBodies: null }', `2: limits.readyBodies is empty; it ${ROOM}`],
  ['limits: { memory: 999999999999999TB }', `2: limits.memory is "999999999999999TB"; it ${SIZE}`],
  // Switches
  ['describe: yes', `2: describe is "yes"; it ${FLAG}`],
  ['describe: 1', `2: describe is 1; it ${FLAG}`],
  // Durations or off
  ['freshness: { shrinkGuard: on }', `2: freshness.shrinkGuard is "on"; it ${GUARD}`],
  ['freshness: { shrinkGuard: true }', `2: freshness.shrinkGuard is true; it ${GUARD}`],
  ['freshness: { shrinkGuard: 24 }', '2: freshness.shrinkGuard is 24; it needs a unit: 24ms, 24s, 24m or 24h'],
  ['freshness: { shrinkGuard: 9999h }', '2: freshness.shrinkGuard is "9999h"; it must be at most 576h (24 days)'],
  ['conditionalRequests: maybe', `2: conditionalRequests is "maybe"; it ${FLAG}`],
  // Zones
  ['timeZone: Europe/Lodnon', `2: timeZone is "Europe/Lodnon"; it ${ZONE}; did you mean Europe/London?`],
  ['timeZone: +01:00', `2: timeZone is "+01:00"; it ${ZONE}`],
  ['timeZone: ""', `2: timeZone is ""; it ${ZONE}`],
  ['timeZone: 1', `2: timeZone is 1; it ${ZONE}`],
  // Representation
  ['representation: { namespace: "" }', `2: representation.namespace is ""; it ${NAMESPACE}`],
  ['representation: { namespace: a b }', `2: representation.namespace is "a b"; it ${NAMESPACE}`],
  ['representation: { namespace: a/b }', `2: representation.namespace is "a/b"; it ${NAMESPACE}`],
  ['representation: { namespace: "a<b" }', `2: representation.namespace is "a<b"; it ${NAMESPACE}`],
  ['representation: { namespace: .a }', `2: representation.namespace is ".a"; it ${NAMESPACE}`],
  ['representation: { namespace: 7 }', `2: representation.namespace is 7; it ${NAMESPACE}, in quotes`],
  [
    'representation: { links: { venue: [ { rel: a b, href: x } ] } }',
    `2: representation.links.venue[0].rel is "a b"; it ${REL}`,
  ],
  [
    'representation: { links: { venue: [ { href: x } ] } }',
    `2: representation.links.venue[0].rel is missing; it ${REL}`,
  ],
  [
    'representation: { links: { venue: [ { rel: a } ] } }',
    `2: representation.links.venue[0].href is missing; it ${HREF}`,
  ],
  [
    'representation: { links: { venue: [ { rel: a, href: "" } ] } }',
    `2: representation.links.venue[0].href is ""; it ${HREF}`,
  ],
  [
    'representation: { links: { venue: [ { rel: a, href: x, titel: y } ] } }',
    '2: representation.links.venue[0].titel is not a known key; did you mean title?',
  ],
  // Secrets
  ['operations: { token: hunter2 }', `2: operations.token ${SECRET}`],
  ['operations: { token: 12345 }', `2: operations.token ${SECRET}`],
  ['operations: { token: { env: EMPTY } }', '2: operations.token needs the environment variable EMPTY, which is empty'],
  [
    'operations: { token: { env: NOT_SET } }',
    '2: operations.token needs the environment variable NOT_SET, which is not set',
  ],
  [
    'operations: { token: { env: toString } }',
    '2: operations.token needs the environment variable toString, which is not set',
  ],
  ['operations: { token: { env: s3cr3t! } }', `2: operations.token ${VARIABLE}`],
  ['operations: { token: { env: 5 } }', `2: operations.token ${VARIABLE}`],
  ['operations: { token: { env: } }', `2: operations.token ${VARIABLE}`],
  ['operations: { token: { file: } }', '2: operations.token must name a file: { file: PATH }'],
  ['operations: { token: { file: nowhere } }', '2: operations.token needs the file nowhere, which does not exist'],
  ['operations: { token: { env: A, file: b } }', '2: operations.token names both an env and a file; keep one'],
  ['operations: { token: { evn: A } }', `2: operations.token is a mapping; it ${TOKEN}`],
  [
    'operations: { token: { env: BLANKS } }',
    `2: operations.token is the value in the environment variable BLANKS (not shown); it ${TOKEN}`,
  ],
  [
    'listen: { port: { env: BLANKS } }',
    `2: listen.port is the value in the environment variable BLANKS (not shown); it ${PORT}`,
  ],
  ['timeZone: { env: BLANKS }', `2: timeZone is the value in the environment variable BLANKS (not shown); it ${ZONE}`],
  [
    'listen: { env: BLANKS }',
    '2: listen is the value in the environment variable BLANKS (not shown); it must be a mapping with the keys host, port, basePath',
  ],
  ['listen: { env: NOT_SET }', '2: listen needs the environment variable NOT_SET, which is not set'],
  ['listen: { host: "postgres://me:hunter2@h/d" }', `2: listen.host ${SECRET}: it is a URL with a password in it`],
  // Rules between keys
  [
    'operations: { host: 0.0.0.0 }',
    '2: operations.token is missing; it is required if operations.host is not loopback: give { env: NAME } or { file: PATH }, or listen on 127.0.0.1',
  ],
  [
    'listen: { port: 8081 }',
    '2: operations.port is the same as listen.port; set another port, or start with --operations-port 0 for any free one',
  ],
  [
    'operations: { host: localhost, port: 8080 }',
    '2: operations.port is the same as listen.port; set another port, or start with --operations-port 0 for any free one',
  ],
  ...['0.0.0.0', '"::"'].map((host): readonly [string, string] => [
    `listen: { host: ${host}, port: 8081 }`,
    '2: operations.port is the same as listen.port; set another port, or start with --operations-port 0 for any free one',
  ]),
  // YAML
  ['listen: {', 'syntax'],
  ['listen: "x', 'syntax'],
  ['listen: [1, 2', 'syntax'],
  ['\tlisten: 1', 'syntax'],
  ['listen: @x', 'syntax'],
  [
    'listen: *nowhere',
    '2: uses an alias (*name) without an anchor (&name) before it; text that begins with * needs quotes',
  ],
  ['listen: a: b', 'syntax'],
  ['timeZone: !secret x', 'syntax'],
  ['timeZone: !!binary aGk=', 'syntax'],
  ['---\nlisten: {}', 'syntax'],
  ['? [a]\n: 1', '2: has a key that is not text'],
  ['timeZone: "\0"', '2: contains a control character (U+0000)'],
  ['timeZone: UTC\ntimeZone: UTC', '3: timeZone is given twice, first on line 2; remove one'],
]

const OPEN = "is still '?': replace it with an answer"
const VALUES = 'must be a list of values in [ ] (texts, numbers, true or false), blank, or { not: [VALUE] }'

/** Invalid parts of a list's section, and the expected problem. */
const WEB_FILE = 'a URL such as https://example.org/events.csv, or { url: URL, sheet: NAME, headers: { NAME: VALUE } }'

const FORMATS =
  'is a list; it must be a list of formats such as DD.MM.YYYY hh:mm, made of YYYY or YY, M, D, h, m, s and A, single or doubled, and ddd'
const HOURS = 'hours are h or hh, also on a 24-hour clock'
const NO_OFFSET = 'such dates are read in crm.timeZone, not as UTC'

const IN_EVENTS: readonly (readonly [string, string])[] = [
  ["fields: { Finish: { lasting: '?' } }", `fields.Finish.lasting ${OPEN}`],
  ["fields: { Finish: { join: [a, b], whenBlank: { lasting: '?' } } }", `fields.Finish.whenBlank.lasting ${OPEN}`],
  ["showOnWeb: '?'", `showOnWeb ${OPEN}`],
  ["texts: { decimal: '?' }", `texts.decimal ${OPEN}`],
  ["texts: { dates: ['?'] }", `texts.dates[0] ${OPEN}`],
  [
    'texts: { dates: [ddMMyyyy HH:mm] }',
    `texts.dates ${FORMATS}; "ddMMyyyy HH:mm" has dd: days are D or DD, and a day's name is ddd`,
  ],
  ['texts: { dates: [YYYYMMDDTHHmmss] }', `texts.dates ${FORMATS}; "YYYYMMDDTHHmmss" has HH: ${HOURS}`],
  ['texts: { dates: [YYYYMMDDThhmmssZ] }', `texts.dates ${FORMATS}; "YYYYMMDDThhmmssZ" has Z: ${NO_OFFSET}`],
  ['from: "http://example.org/a.csv"', 'from must begin with https:; http: is only allowed to this machine'],
  ['from: "https://u@example.org/a.csv?sig=x"', 'from must be a URL without a user; name it in headers'],
  ['from: { url: "https://", sheet: x }', `from must be ${WEB_FILE}`],
  ['from: { url: "https://example.org/a", shet: x }', `from must be ${WEB_FILE}`],
  [
    'from: { url: "https://example.org/a", headers: { X-Api-Key: word } }',
    'from must not contain the header x-api-key in the file; give { env: NAME } or { file: PATH }',
  ],
  [
    'from: { url: "https://example.org/a", headers: { Range: bytes=0 } }',
    'from has a header that cannot be sent; headers are texts by name, and Marquee sets its own',
  ],
  ["fields: { Id: '?' }", `fields.Id ${OPEN}`],
  ["fields: { Start: '?' }", `fields.Start ${OPEN}`],
  ["fields: { Start: { join: [a, '?'] } }", `fields.Start.join[1] ${OPEN}`],
  ['fields: { Id: [] }', 'fields.Id is an empty list; it must be a column, or { join: [COLUMN, COLUMN] }'],
  [
    'fields: { Finish: { lasting: long } }',
    'fields.Finish.lasting is "long"; it must be a duration such as 2h30m, 90m or 1h, or day',
  ],
  ['showOnWeb: { Status: fest }', `showOnWeb.Status is "fest"; it ${VALUES}`],
  ['active: { Status: [] }', `active.Status is an empty list; it ${VALUES}`],
  ['active: { Status: [{ a: b }] }', `active.Status is a list; it ${VALUES}`],
  ['active: { Status: { not: x } }', `active.Status is a mapping; it ${VALUES}`],
  ['active: { Status: { not: [] } }', `active.Status is a mapping; it ${VALUES}`],
  ['active: { Status: { not: [x], blank: true } }', `active.Status is a mapping; it ${VALUES}`],
  ['active: { Status: }', `active.Status is empty; it ${VALUES}`],
  ["active: { Status: '?' }", `active.Status ${OPEN}`],
  ["showOnWeb: { Status: { not: '?' } }", `showOnWeb.Status.not ${OPEN}`],
  ...["['']", '[null]', "['  ']", "[x, '']"].map(
    (list) =>
      [
        `active: { Status: ${list} }`,
        'active.Status lists a blank value; if the cell must be blank, write Status: blank, without [ ]',
      ] as const,
  ),
  [
    "active: { Status: { not: [x, ''] } }",
    'active.Status lists a blank value; blank cells always pass { not: [VALUE] }, so list only the other values',
  ],
  [
    'fields: { TicketCapacity: { column: a, whenBlank: neun } }',
    'fields.TicketCapacity.whenBlank is "neun"; it must be a number',
  ],
  ['fields: { Price: { value: free } }', 'fields.Price.value is "free"; it must be a number'],
  [
    'fields: { Start: { column: a, whenBlank: soon } }',
    'fields.Start.whenBlank is "soon"; it must be a date-time such as 2036-07-12T19:30',
  ],
  [
    'fields: { Finish: { join: [a, b], whenBlank: 2h30m } }',
    'fields.Finish.whenBlank is "2h30m"; it must be a date-time such as 2036-07-12T19:30, or { lasting: 2h30m }',
  ],
  [
    'fields: { Start: { value: 19:30 } }',
    'fields.Start.value is "19:30"; it must be a date-time such as 2036-07-12T19:30',
  ],
]

const DECLARED = 'representation: { further: { events: { Doors: date-time, Code: text } } }\n'
const TYPES = 'text, url, integer, decimal, date-time, flag, texts'

/** Further fields, each with the problem of a whole file. */
const FURTHER: readonly (readonly [string, string])[] = [
  ...(
    [
      [
        'doors: text',
        'doors is not a name for a further field: it must be a capital letter and up to 63 letters and digits',
      ],
      [
        `A${'b'.repeat(64)}: text`,
        `A${'b'.repeat(64)} is not a name for a further field: it must be a capital letter and up to 63 letters and digits`,
      ],
      [
        'Step_Free: flag',
        'Step_Free is not a name for a further field: it must be a capital letter and up to 63 letters and digits',
      ],
      ['NAME: text', 'NAME is a name that is taken: events have Name; choose another'],
      ['Href: text', 'Href is a name that is taken: events have Href; choose another'],
      [
        'venues: text',
        'venues is not a name for a further field: it must be a capital letter and up to 63 letters and digits',
      ],
      ['LINKS: text', 'LINKS is a name that is taken: events have Links; choose another'],
      ['Door: text, DOOR: text', 'DOOR is a name that is taken: events have Door; choose another'],
      ['Doors: datetime', `Doors is "datetime"; it must be one of ${TYPES}; did you mean date-time?`],
      ['Doors: [text]', `Doors is a list; it must be one of ${TYPES}`],
      ['Doors:', `Doors is empty; it must be one of ${TYPES}`],
    ] as const
  ).map(
    ([field, sentence]) =>
      [
        `representation: { further: { events: { ${field} } } }\ncrm: { kind: files, directory: . }`,
        `m.yaml:1: representation.further.events.${sentence}`,
      ] as const,
  ),
  [
    'representation: { further: { events: [Doors] } }\ncrm: { kind: files, directory: . }',
    `m.yaml:1: representation.further.events is a list; it must be a mapping of names to types (${TYPES}), such as { Description: text, Doors: date-time }`,
  ],
  [
    'representation: { further: { events: { Description: text, Doors: { env: NOT_SET } } } }\ncrm: { kind: files, directory: ., events: { fields: { Name: N, Description: d, Doors: x } } }',
    'm.yaml:1: representation.further.events.Doors needs the environment variable NOT_SET, which is not set',
  ],
  [
    `${DECLARED}crm: { kind: files, directory: ., events: { fields: { Name: N, Doors: D } } }`,
    'm.yaml:2: crm.events.fields.Code is missing; representation.further.events declares it: name its column, or null for none',
  ],
  [
    `${DECLARED}crm: { kind: files, directory: ., events: { fields: { Name: N, Doors: D, Code: null, Genres: G } } }`,
    'm.yaml:2: crm.events.fields.Genres is not a field; declare it in representation.further.events, such as { Genres: text }',
  ],
  [
    `${DECLARED}crm: { kind: files, directory: ., events: { fields: { Name: N, Door: D, Doors: D, Code: null } } }`,
    'm.yaml:2: crm.events.fields.Door is not a known key; did you mean Doors?',
  ],
  [
    `${DECLARED}crm: { kind: files, directory: ., events: { fields: { Name: N, Doors: { column: D, html: true }, Code: null } } }`,
    'm.yaml:2: crm.events.fields.Doors.html is not a known key; known here: column, values, whenBlank, wallTimeIn, pick, onlyWhere',
  ],
  ...(
    [
      [
        '{ column: D, values: {} }',
        '.values is a mapping; it must be a mapping with at least one value, such as { FOUND: VALUE }',
      ],
      [
        '{ column: D, values: [a] }',
        '.values is a list; it must be a mapping with at least one value, such as { FOUND: VALUE }',
      ],
      ['{ column: D, values: { a: [b] } }', '.values.a is a list; it must be a text, or null for a blank cell'],
      ["{ column: D, values: { ' ': b } }", '.values replaces blank cells; write whenBlank beside it for these'],
      ['{ column: D, html: 1 }', '.html is 1; it must be on, off, true or false'],
      ['{ column: D, prefix: images/ }', '.prefix is "images/"; it must be the beginning of an http or https URL'],
      ['{ column: D, pick: most }', '.pick is "most"; it must be one of first, least, greatest, sum, count'],
      ['{ column: D, whenBlank: 3 }', '.whenBlank is 3; it must be a text, in quotes'],
      ['{ column: D, onlyWhere: { a: b } }', `.onlyWhere.a is "b"; it ${VALUES}`],
      ['{ column: D, wenBlank: x }', '.wenBlank is not a known key; did you mean whenBlank?'],
      ['{ colum: D }', ' has the key colum, which is not known; did you mean column?'],
      ['{ column: D, value: x }', ' is a mapping; it must be only one of column and value'],
      ['{ join: [D] }', '.join is a list; it must be a list of two columns or more, such as [day, time]'],
      [
        '{}',
        ' is a mapping; it must be a column, { column: NAME, whenBlank: TEXT } or { value: TEXT }, or { join: [COLUMN, COLUMN] }',
      ],
    ] as const
  ).map(
    ([source, sentence]) =>
      [
        `${DECLARED}crm: { kind: files, directory: ., events: { fields: { Name: N, Doors: D, Code: ${source} } } }`,
        `m.yaml:2: crm.events.fields.Code${sentence}`,
      ] as const,
  ),
]

/** Whole files, and the expected problem. */
export const ALONE: readonly (readonly [string, string])[] = [
  ...FURTHER,
  ['', 'm.yaml: crm is missing; add where events and venues come from, such as crm: { kind: files, directory: ./crm }'],
  [
    '# nothing\n',
    'm.yaml: crm is missing; add where events and venues come from, such as crm: { kind: files, directory: ./crm }',
  ],
  ['crm:', `m.yaml:1: crm.kind is missing; it must be ${KINDS}`],
  [
    'crm: files',
    'm.yaml:1: crm is "files"; it must be a mapping with the key kind (files, dataverse, postgres, odoo, salesforce, civicrm, http, module, command) and those of that kind',
  ],
  ['crm: { kind: fiels }', `m.yaml:1: crm.kind is "fiels"; it must be ${KINDS}; did you mean files?`],
  ['crm: { kind: [files] }', `m.yaml:1: crm.kind is a list; it must be ${KINDS}`],
  ['crm: { kind: files }', 'm.yaml:1: crm.directory is missing; it must be the directory that holds events and venues'],
  [
    'crm: { kind: files, events: { from: "https://example.org/e.csv" } }',
    'm.yaml:1: crm.directory is missing; it must be the directory that holds events and venues',
  ],
  [
    'crm: { kind: files, directory: "" }',
    'm.yaml:1: crm.directory is ""; it must be the directory that holds events and venues',
  ],
  [
    'crm: { kind: files, directory: 5 }',
    'm.yaml:1: crm.directory is 5; it must be the directory that holds events and venues, in quotes',
  ],
  [
    'crm: { kind: files, directory: x, dir: x }',
    'm.yaml:1: crm.dir is not a known key; known here: kind, directory, timeZone, idNamespace, maxFileAge, requestTimeout, proxy, ca, texts, events, venues',
  ],
  [
    `crm: { kind: postgres, url: postgres://u@h/d, listen: ${'é'.repeat(32)}, events: { from: e }, venues: { from: v } }`,
    `m.yaml:1: crm.listen is "${'é'.repeat(32)}"; it must be the name of a channel, of at most 63 bytes`,
  ],
  ['- a', 'm.yaml:1: must hold keys such as "crm:", but is a list'],
  ['hello', 'm.yaml:1: must hold keys such as "crm:", but is text'],
  ['[]', 'm.yaml:1: must hold keys such as "crm:", but is a list'],
  ...IN_EVENTS.map(
    ([line, sentence]) =>
      [
        `crm: { kind: files, directory: x, venues: {}, events: {\n  ${line} } }`,
        `m.yaml:2: crm.events.${sentence}`,
      ] as const,
  ),
]
