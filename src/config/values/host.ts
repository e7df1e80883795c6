import { isIP } from 'node:net'
import type { z } from 'zod'
import { leaf } from './leaf.ts'

/** An address to listen on; an IPv6 address may have its brackets, and loses them. */
export function host(): z.ZodType<string> {
  return leaf(
    'an IP address or a host name such as 127.0.0.1, 0.0.0.0, ::1 or localhost, without a port',
    ({ value }) => {
      if (typeof value !== 'string') return null
      const bare = /^\[.*\]$/.test(value) ? value.slice(1, -1) : value
      if (isIP(bare) !== 0) return bare
      return isHostName(value) ? value.toLowerCase() : null
    },
  )
}

function isHostName(text: string): boolean {
  // Digits and dots alone are an address gone wrong, never a name (RFC 1123 §2.1).
  return (
    text.length <= 253 &&
    /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/i.test(text) &&
    !/^[\d.]+$/.test(text)
  )
}

/** Tells whether only this machine can reach what listens there. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}

/** Tells whether two listeners on one port would meet. */
export function sharesAddress(left: string, right: string): boolean {
  return left === right || isWildcard(left) || isWildcard(right) || (isLocal(left) && isLocal(right))
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

function isLocal(address: string): boolean {
  return address === 'localhost' || address === '127.0.0.1'
}
