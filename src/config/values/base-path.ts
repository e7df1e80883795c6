import type { z } from 'zod'
import { leaf, Refusal } from './leaf.ts'

/** A base path in the form URLs have it (contract §1: the pathname as browsers parse it): `/`, or `/a/b` without a slash at its end. */
export function basePath(): z.ZodType<string> {
  return leaf('a path such as / or /events-service', ({ value }) => {
    if (typeof value !== 'string') return null
    if (!value.startsWith('/')) return new Refusal('must begin with /, such as / or /events-service')
    if (/[?#]/.test(value)) return new Refusal('must be a path alone, without ? or #')
    if (/[\\\p{Cc}]/u.test(value)) return new Refusal('must not hold backslashes or control characters')
    if (/%(?![0-9A-Fa-f]{2})/.test(value)) return new Refusal('must have two hex digits behind each %')
    if (value.length > 1000) return new Refusal('must be at most 1000 characters')
    const segments = value.replace(/\/$/, '').split('/').slice(1)
    if (segments.includes('')) return new Refusal('must not hold an empty part (//)')
    if (segments.some(isDots)) return new Refusal('must not hold the parts . or ..')
    return segments.length === 0 ? '/' : pathname(segments)
  })
}

function isDots(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment)
}

function pathname(segments: readonly string[]): string | Refusal {
  const url = URL.parse(`http://localhost/${segments.join('/')}`)
  return url === null ? new Refusal('must be a path as URLs have it') : url.pathname.replaceAll(' ', '%20')
}
