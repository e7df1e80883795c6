import { trimWhiteSpace } from './white-space.ts'

/** A link of a record (contract §2). `Href` is kept as the CRM or the operator wrote it; `~/` is the service's root. */
export interface Link {
  readonly Rel: string
  readonly Href: string
  readonly Title: string | null
}

export function untitled(Rel: string, Href: string): Link {
  return { Rel, Href, Title: null }
}

/**
 * Returns true if `href` is templated: it matches the reference's pattern `{.+}`, which needs both braces on one line.
 */
export function isTemplated(href: string): boolean {
  const opened = href.indexOf('{')
  if (opened === -1) return false
  if (!href.includes('\n')) return href.lastIndexOf('}') > opened + 1
  return href.split('\n').some((line) => {
    const start = line.indexOf('{')
    return start !== -1 && line.lastIndexOf('}') > start + 1
  })
}

/** Returns true if the whole text is one web address. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(trimWhiteSpace(text))
}

/** Encodes everything except RFC 3986 §2.3's unreserved characters: `!'()*` in addition to encodeURIComponent. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
