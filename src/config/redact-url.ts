const SHOWN = '[secret]'
const SECRET_PARAMETER =
  /([?&;](?:password|passwd|pwd|secret|client_secret|token|access_token|sig|key|api_?key)=)[^&;\s#"']*/gi

/**
 * The text without the passwords of the URLs in it. It errs towards hiding: what stands between the first `:` and the last
 * `@` behind a `://` goes, since people leave `/`, `#` and `@` unencoded in passwords.
 */
export function redactUrl(text: string): string {
  if (!text.includes('://')) return text
  const parts = text.split('://')
  for (const [index, part] of parts.entries()) {
    if (index === 0) continue
    const end = part.lastIndexOf('@')
    const colon = part.indexOf(':')
    if (colon !== -1 && colon < end) parts[index] = `${part.slice(0, colon)}:${SHOWN}${part.slice(end)}`
  }
  return parts.join('://').replace(SECRET_PARAMETER, `$1${SHOWN}`)
}

/** Tells whether the text is one URL with a password in it, which makes it a secret. */
export function holdsPassword(text: string): boolean {
  if (!text.includes('://')) return false
  const url = URL.parse(text.trim())
  // What no parser reads (`postgres://u:p#w@host`, `{…}` for a port) is judged by its look.
  return url === null
    ? /^[^\s:/]+:\/\/[^\s/:@]*:[^\s@]*@/.test(text.trim())
    : url.password !== '' || Boolean(url.searchParams.get('password'))
}
