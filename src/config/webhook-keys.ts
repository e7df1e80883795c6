import { type ListName, LISTS } from '../domain/field.ts'
import { isPlain } from '../domain/host.ts'
import { IN_THE_FILE, Secret } from '../domain/secret.ts'
import { ValueProblem, leaf, list, section } from './key.ts'
import { duration, secretText, textSchema } from './values.ts'

const URL_ALLOWED = 'an https URL such as https://hooks.example.org/build, or http to localhost, 127.0.0.1 or [::1]'

const WEB = /^\s*[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#@\\]+(?:[/?][^\s#]*)?\s*$/

/** The URL of a receiver. It is a secret, because build hooks have theirs in the path or the query. */
const url = leaf(URL_ALLOWED, textSchema(WEB), ({ value, reference }) => {
  const address = typeof value === 'string' && WEB.test(value) ? URL.parse(value.trim()) : null
  return address === null || isPlain(address.origin)
    ? new ValueProblem(`must be ${URL_ALLOWED}, without a user and without #`, true)
    : new Secret(String(value).trim(), reference ?? IN_THE_FILE)
})

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/

function isSigningSecret(text: string): boolean {
  const bytes = Buffer.from(SECRET.exec(text)?.[1] ?? '', 'base64').length
  return bytes >= 24 && bytes <= 64
}

const NO_SECRET =
  'is missing; it signs the body: whsec_ and the base64 of 24 to 64 random bytes, given as { env: NAME } or { file: PATH }'

const NO_LIST = 'names no list: leave it out for both, or name events, venues or both'

const TWICE = 'has the url and the lists of one before it: remove one of them'

const webhook = section({
  url: url.says('The receiver. Logs and pages show its host, and at most the first part of its path.'),
  secret: secretText('whsec_ and the base64 of 24 to 64 random bytes', isSigningSecret)
    .optional('none: the calls are not signed; only if `body` is `empty`')
    .says('Signs the calls, as [Standard Webhooks](https://www.standardwebhooks.com) say.'),
  on: list(
    leaf('events or venues', { enum: [...LISTS] }, ({ value }) => LISTS.find((name) => name === value) ?? null).says(
      'One of the lists.',
    ),
  )
    .optional('both')
    .map((names, place) => {
      const named: readonly ListName[] = LISTS.filter((name) => names === null || names.includes(name))
      return named.length === 0 ? place.report(NO_LIST) : named
    })
    .says('The lists whose changes it is told of.'),
  every: duration({ leastMs: 1000 }).default('5m').says('The shortest time between two calls.'),
  body: leaf('changes or empty', { enum: ['changes', 'empty'] }, ({ value }) =>
    value === 'changes' || value === 'empty' ? value : null,
  )
    .default('changes')
    .says('`changes` sends what has changed; `empty` sends nothing, for build hooks.'),
}).map((keys, place) =>
  keys.secret === null && keys.body === 'changes' && !place.in('secret', undefined).isWrong
    ? place.in('secret', undefined).report(NO_SECRET)
    : keys,
)

/** The key `webhooks`. A URL may be called for each list separately, but not twice for the same. */
export const webhooks = list(webhook.map((keys, place) => ({ keys, place }))).map((all) => {
  const called = all.map(({ keys: { url: receiver, on } }) => `${on.join()} ${receiver.reveal()}`)
  const again = all.find((_, index) => called.indexOf(called[index] ?? '') < index)
  return again === undefined ? all.map(({ keys }) => keys) : again.place.report(TWICE)
})
