import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** The addresses that are only reachable from this machine or its network. */
const PRIVATE = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv4')
}
for (const [net, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv6')
}

/** Returns true if an address is a loopback, link-local or private one. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[(.*)\]$/, '$1')
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/i.exec(bare)
  if (mapped !== null) {
    const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)]
    return isPrivateAddress(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`)
  }
  const family = isIP(bare)
  return family !== 0 && PRIVATE.check(bare, family === 4 ? 'ipv4' : 'ipv6')
}

/** Returns true if a URL leads to a private address. A name that cannot be resolved leads nowhere. */
export async function isPrivateUrl({ hostname }: URL): Promise<boolean> {
  if (/^(?:.*\.)?localhost$/.test(hostname)) return true
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return isPrivateAddress(hostname)
  const addresses = await lookup(hostname, { all: true }).catch(() => [])
  return addresses.some(({ address }) => isPrivateAddress(address))
}

const LONGEST_NAME = 60

/**
 * A URL's name in messages: its host and the last part of its path, never its query.
 * @example `docs.google.com/…/pub`
 */
export function shownUrl({ host, pathname }: URL, isReferred: boolean): string {
  const parts = pathname.split('/').filter((part) => part !== '')
  const last = parts.at(-1)
  if (isReferred || last === undefined) return host
  const name = last.length > LONGEST_NAME ? `${last.slice(0, LONGEST_NAME)}…` : last
  return parts.length === 1 ? `${host}/${name}` : `${host}/…/${name}`
}
