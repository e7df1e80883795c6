import { Buffer } from 'node:buffer'
import { isLoopback } from './addresses.ts'
import { leaf, Wrong } from './key.ts'
import { IN_THE_FILE, Secret } from './secret.ts'
import { section } from './section.ts'
import { duration, flag, path, secretText, text } from './values.ts'

const URL_ALLOWED = 'a URL such as rediss://user@host:6379/0, with its password only by { env: NAME } or { file: PATH }'

const url = leaf(URL_ALLOWED, ({ value, reference }) => {
  const given = typeof value === 'string' ? URL.parse(value.trim()) : null
  if (typeof value !== 'string' || given === null || given.hostname === '') return null
  if (given.protocol !== 'rediss:' && given.protocol !== 'redis:') return null
  if (!/^(?:\/\d{0,4})?$/.test(given.pathname))
    return new Wrong('must end with the number of a database, such as /0', true)
  if (/%(?![\da-f]{2})/i.test(given.username + given.password))
    return new Wrong('holds a % without two hex digits; write %25', true)
  // It mostly holds a password.
  return new Secret(value.trim(), reference ?? IN_THE_FILE)
})

const readers = leaf('a whole number from 1 on, or all', ({ value }) => {
  if (value === 'all') return Number.POSITIVE_INFINITY
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : null
})

const KEY_BYTES = 32

/** One line signs; where two stand, the first signs and both are believed. */
function areKeys(given: string): boolean {
  const keys = given.split('\n').map((line) => line.trim())
  return keys.length <= 2 && keys.every((key) => Buffer.byteLength(key) >= KEY_BYTES)
}

/** The store that several instances share. */
export const share = section({
  url: url.says('The primary of a Redis or Valkey, 6.2 or later; `rediss:` is with TLS.'),
  key: secretText(`one or two lines of at least ${KEY_BYTES} bytes each`, areKeys)
    .optional('none: the store is trusted as a database is')
    .says('Signs what is in the store. Of two lines the first signs and both are believed, to replace one by another.'),
  name: text('letters, digits, _ and -, such as marquee', (given) => /^[\w-]{1,64}$/.test(given))
    .default('marquee')
    .says('Keeps several Marquees in one store apart.'),
  ca: path('the path of a PEM file').optional('the certificates of the system').says('Certificates to trust.'),
  beat: duration({ leastMs: 50 })
    .optional('a twentieth of the bound, `50ms` to `500ms`')
    .says('How often the reader says how old its data is, and the others that they are there.'),
  readersWhenLost: readers
    .default(3)
    .says(
      'How many instances read the CRM while the store is lost, the reader included; `all` for two or three machines.',
    ),
  allowInsecure: flag()
    .default(false)
    .says('Takes `redis:` to another machine, which is neither encrypted nor verified.'),
})

/** Whether what is sent to the store can be read on the way. */
export function isPlainStore(given: { readonly url: Secret }): boolean {
  return given.url.reveal().startsWith('redis:') && !isLoopbackStore(given)
}

export function isLoopbackStore(given: { readonly url: Secret }): boolean {
  return isLoopback(new URL(given.url.reveal()).hostname.replaceAll(/^\[|\]$/g, ''))
}
