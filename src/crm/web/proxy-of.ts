export interface ProxySettings {
  /** The configured proxy, for every URL; null where there is none. */
  readonly configured: string | null
  /** What the surroundings say where nothing is configured: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in either case. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The proxy that a URL is reached by, null for none. A configured one wins over the surroundings, NO_PROXY included. */
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

/** As curl reads NO_PROXY: hosts between commas or blanks, each with all below it, with a port or without; `*` is all. */
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

/** An IPv6 address without brackets has colons and no port. */
function isAddress(entry: string): boolean {
  return !entry.startsWith('[') && entry.indexOf(':') !== entry.lastIndexOf(':')
}
