// Not one of these: nothing to cut off, and nothing the WHATWG parser could change.
const SUSPECT = /[^\w!$&'()*+,\-/:;=@[\]|~]/

/**
 * The path of a URL as browsers parse it (WHATWG), of a request target that begins with a slash and may carry a query and
 * a fragment. In the common case one scan, and no URL is built.
 */
function pathnameOfTarget(target: string): string {
  if (!SUSPECT.test(target)) return target
  const end = target.search(/[?#]/)
  // A host of our own before it: `//x` is a path here, never an authority (RFC 9112 §3.2.1).
  return new URL(`http://h${end === -1 ? target : target.slice(0, end)}`).pathname
}

/** The same of an absolute URL, or of one whose host no URL may have, as clients can send it; empty where it has no path. */
export function pathnameOfUrl(url: string): string {
  if (url.charCodeAt(0) === SLASH) return pathnameOfTarget(url)
  const scheme = url.indexOf('://')
  if (scheme === -1) return ''
  const from = url.indexOf('/', scheme + 3)
  if (from === -1) return '/'
  const query = url.indexOf('?', scheme + 3)
  return query !== -1 && query < from ? '/' : pathnameOfTarget(url.slice(from))
}

const SLASH = 47
