import type { z } from 'zod'
import { BadAddress, parsePostgresUrl } from '../postgres-address.ts'
import { Secret } from '../secret.ts'
import { leaf, Refusal } from './leaf.ts'

const ALLOWED =
  'a URL such as postgres://user@host:5432/database?sslmode=verify-full, with its password only by { env: NAME } or { file: PATH }'

/** Where PostgreSQL is; a secret, for it mostly holds a password. */
export function postgresUrl(): z.ZodType<Secret> {
  return leaf(ALLOWED, ({ value, reference }) => {
    if (typeof value !== 'string') return null
    const address = parsePostgresUrl(value)
    if (address instanceof BadAddress) return new Refusal(address.message, true)
    return new Secret(value, reference ?? { name: 'the configuration', reread: null })
  })
}
