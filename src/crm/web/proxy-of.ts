export interface ProxySettings {
  /** The configured proxy, used for every URL; `null` if none is configured. */
  readonly configured: string | null
  /**
   * Environment variables, used if no proxy is configured: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or lower
   * case.
   */
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Returns the proxy for a URL, or `null` for a direct connection. A configured proxy overrides the environment,
 * NO_PROXY included.
 */
export function proxyOf(url: URL, { configured, env }: ProxySettings): string | null {
  if (configured !== null) return configured
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = fromEnv(env, name)
  if (proxy === '' || isExempt(url, fromEnv(env, 'NO_PROXY'))) return null
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function fromEnv(env: ProxySettings['env'], name: string): string {
  return (env[name.toLowerCase()] ?? env[name] ?? '').trim()
}

/**
 * Reads NO_PROXY as curl does: hosts separated by commas or blanks, each including its subdomains, with or without a
 * port; `*` matches all.
 */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '') return false
      if (entry === '*') return true
      const [, name = '', wanted = null] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.replace(/^\*?\./, '')) ?? []
      if (wanted !== null && wanted !== port && !isAddress(entry)) return false
      const bare = isAddress(entry) ? entry : name
      return host === bare || host.endsWith(`.${bare}`)
    })
}

function isAddress(entry: string): boolean {
  return !entry.startsWith('[') && entry.indexOf(':') !== entry.lastIndexOf(':')
}
