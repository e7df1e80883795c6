import { Buffer } from 'node:buffer'
import { type ValueSchema, leaf, ValueProblem } from './key.ts'
import { IN_THE_FILE, Secret } from '../domain/secret.ts'
import { section } from './section.ts'
import { duration, flag, path, secretText, text, textSchema } from './values.ts'

const URL_ALLOWED = 'a URL such as rediss://user@host:6379/0, with its password only by { env: NAME } or { file: PATH }'

export function isStore({ hostname, protocol }: URL): boolean {
  return hostname !== '' && (protocol === 'rediss:' || protocol === 'redis:')
}

const url = leaf(
  URL_ALLOWED,
  textSchema(/^\s*[Rr][Ee][Dd][Ii][Ss]{1,2}:\/\/(?!.*:[^/@]+@)(?:[^/?#%]|%[0-9A-Fa-f]{2})+(?:\/\d{0,4})?\s*$/),
  ({ value, reference }) => {
    const given = typeof value === 'string' ? URL.parse(value.trim()) : null
    if (typeof value !== 'string' || given === null || !isStore(given)) return null
    if (!/^(?:\/\d{0,4})?$/.test(given.pathname))
      return new ValueProblem('must end with the number of a database, such as /0', true)
    if (given.search !== '' || given.hash !== '')
      return new ValueProblem(
        'must end with the number of a database, without ? or #; TLS is on with rediss: and off with redis:',
        true,
      )
    if (/%(?![\da-f]{2})/i.test(given.username + given.password))
      return new ValueProblem('contains a % without two hex digits; write %25', true)
    // A secret, because it usually contains a password.
    return new Secret(value.trim(), reference ?? IN_THE_FILE)
  },
)

const MANY: ValueSchema = { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'all' }] }

const readers = leaf('a whole number from 1 on, or all', MANY, ({ value }) => {
  if (value === 'all') return Number.POSITIVE_INFINITY
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : null
})

const KEY_BYTES = 32

const KEY_ALLOWED = `one line of at least ${KEY_BYTES} bytes`

function isKey(given: string): boolean {
  return !given.includes('\n') && Buffer.byteLength(given) >= KEY_BYTES
}

/** The cluster's store. */
export const cluster = section({
  url: url.says('The primary of a Redis or Valkey server, 6.2 or later; `rediss:` uses TLS.'),
  key: secretText(KEY_ALLOWED, isKey)
    .optional('none: anyone who can write to the store is trusted')
    .says('Signs the data in the store. Instances with different keys do not form a cluster.'),
  name: text('letters, digits, _ and -, such as marquee', /^[\w-]{1,64}$/)
    .default('marquee')
    .says('Separates several clusters in one store.'),
  ca: path('the path of a PEM file').optional('the certificates of the system').says('Certificates to trust.'),
  heartbeat: duration({ leastMs: 50 })
    .optional('a twentieth of the maximum age, `50ms` to `500ms`')
    .says(
      'How often the leader announces the age of its data, and the others that they are alive; at most a tenth of the maximum age.',
    ),
  readersWhenLost: readers
    .default(3)
    .says(
      'How many instances read the CRM while the store is lost, including the leader; `all` suits two or three machines.',
    ),
  allowInsecure: flag()
    .default(false)
    .says('Allows `redis:` to another machine, which is neither encrypted nor verified.'),
})
