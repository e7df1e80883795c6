import { BlockList, isIP } from 'node:net'

/** Returns true if only this machine can reach a listener on this address. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}

/** Normalizes a host: IPv6 addresses and names have several spellings. */
export function canonicalHost(name: string): string {
  // URLs cannot contain an address with a zone (`fe80::1%eth0`).
  if (isIP(name) !== 6 || name.includes('%')) return name.toLowerCase()
  return new URL(`http://[${name}]`).hostname.slice(1, -1)
}

/** Returns true if requests to this origin are sent over the network unencrypted. */
export function isPlain(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && !isLoopback(hostname.replaceAll(/[[\]]/g, ''))
}

/** The addresses that are only reachable from this machine or its network. */
const PRIVATE = new BlockList()
for (const [net, bits, family] of [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
] as const) {
  PRIVATE.addSubnet(net, bits, family)
}

/** Returns true if an address is a loopback, link-local or private one; of IPv4, also as IPv6 writes it. */
export function isPrivateAddress(address: string): boolean {
  return PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
