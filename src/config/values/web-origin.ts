import type { z } from 'zod'
import { leaf, Refusal } from './leaf.ts'

/** The address of a server on the web, as `scheme://host:port` without a path. */
export function webOrigin(example: string): z.ZodType<string> {
  const allowed = `a URL without a path, such as ${example}`
  return leaf(allowed, ({ value }) => {
    if (typeof value !== 'string') return null
    const url = URL.parse(value.trim())
    if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
    if (url.username !== '' || url.password !== '') return new Refusal(`must be ${allowed}, and without a user`, true)
    return url.pathname === '/' && url.search === '' && url.hash === '' ? url.origin : null
  })
}

/** Whether what is sent there can be read on the way. */
export function isPlain(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return (
    protocol === 'http:' && hostname !== 'localhost' && hostname !== '[::1]' && !/^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}
