import { isIP } from 'node:net'

/** Returns true if only this machine can reach a listener on this address. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}

/** Normalizes a host: IPv6 addresses and names have several spellings. */
export function canonicalHost(given: string): string {
  // URLs cannot contain an address with a zone (`fe80::1%eth0`).
  if (isIP(given) !== 6 || given.includes('%')) return given.toLowerCase()
  return new URL(`http://[${given}]`).hostname.slice(1, -1)
}

/** Returns true if requests to this origin are sent over the network unencrypted. */
export function isPlain(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && !isLoopback(hostname.replaceAll(/[[\]]/g, ''))
}
