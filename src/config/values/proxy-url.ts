import type { z } from 'zod'
import { Secret } from '../secret.ts'
import { leaf } from './leaf.ts'

/** The URL of a forward proxy; a secret, for it may hold a password. */
export function proxyUrl(): z.ZodType<Secret> {
  return leaf('a URL such as http://proxy.example:3128', ({ value, reference }) => {
    const url = typeof value === 'string' ? URL.parse(value.trim()) : null
    if (typeof value !== 'string' || url === null || url.hostname === '') return null
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return null
    return new Secret(value.trim(), reference ?? { name: 'the configuration', reread: null })
  })
}
