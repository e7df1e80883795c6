import { createHmac, timingSafeEqual } from 'node:crypto'
import { Buffer } from 'node:buffer'

/** What is signed together: texts and bytes, in order. */
type Part = string | Uint8Array

const KEY_DIGITS = 8

/**
 * The name of the log of these records. Instances with another key have a log of their own, which this one never touches; so
 * everything in the log was written by instances with the same key, or by somebody who has none.
 */
export function logNameOf(fingerprint: string, key: string | null): string {
  if (key === null) return fingerprint
  return `${fingerprint}-${createHmac('sha256', key).update('log').digest('hex').slice(0, KEY_DIGITS)}`
}

/** Signs what goes to the store, and tells whether what comes from it has the right signature. Without a key nothing is signed. */
export class Signing {
  readonly #fingerprint: string
  readonly #key: string | null

  constructor(fingerprint: string, key: string | null) {
    this.#fingerprint = fingerprint
    this.#key = key
  }

  /** Null if there is no key. */
  sign(...parts: readonly Part[]): string | null {
    return this.#key === null ? null : this.#digest(this.#key, parts).toString('base64url')
  }

  believes(signature: string | null, ...parts: readonly Part[]): boolean {
    if (this.#key === null) return signature === null
    const given = Buffer.from(signature ?? '', 'base64url')
    const digest = this.#digest(this.#key, parts)
    return digest.length === given.length && timingSafeEqual(digest, given)
  }

  /** Each part behind its length: two lists of parts never give the same bytes. */
  #digest(key: string, parts: readonly Part[]): Buffer {
    const hmac = createHmac('sha256', key)
    for (const part of [this.#fingerprint, ...parts]) hmac.update(`${Buffer.byteLength(part)}:`).update(part)
    return hmac.digest()
  }
}
