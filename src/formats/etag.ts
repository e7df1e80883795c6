import { hash } from 'node:crypto'
import type { Body } from './body.ts'

/** The length of every entity tag: 64 bits in hexadecimal, since it is only compared among versions of one resource, and quotes. */
export const ETAG_LENGTH = 18

/** The strong entity tag of a body (RFC 9110 §8.8.3): a function of its bytes alone (contract §1.3). */
export function etagOf(body: Body): string {
  // Not for secrecy, only to tell versions apart: SHA-1 takes half the time of SHA-256.
  return `"${hash('sha1', body, 'hex').slice(0, ETAG_LENGTH - 2)}"`
}
