import { createHmac, timingSafeEqual } from 'node:crypto'
import { Buffer } from 'node:buffer'

/** A part of what is signed together. */
type Part = string | Uint8Array

const KEY_DIGITS = 8

/**
 * Returns the name of the log for these records. Instances with another key have another log, which this one never
 * touches. So everything in the log comes from instances with the same key, or from a stranger without one.
 */
export function logNameOf(fingerprint: string, key: string | null): string {
  if (key === null) return fingerprint
  return `${fingerprint}-${createHmac('sha256', key).update('log').digest('hex').slice(0, KEY_DIGITS)}`
}

/** Signs what goes to the store, and verifies what comes from it. Without a key nothing is signed. */
export class Signing {
  readonly #fingerprint: string
  readonly #key: string | null

  constructor(fingerprint: string, key: string | null) {
    this.#fingerprint = fingerprint
    this.#key = key
  }

  /** Returns the signature; `null` if there is no key. */
  sign(...parts: readonly Part[]): string | null {
    return this.#key === null ? null : this.#digest(this.#key, parts).toString('base64url')
  }

  believes(signature: string | null, ...parts: readonly Part[]): boolean {
    if (this.#key === null) return signature === null
    const given = Buffer.from(signature ?? '', 'base64url')
    const digest = this.#digest(this.#key, parts)
    return digest.length === given.length && timingSafeEqual(digest, given)
  }

  /** Each part is preceded by its length, so different parts never give the same bytes. */
  #digest(key: string, parts: readonly Part[]): Buffer {
    const hmac = createHmac('sha256', key)
    for (const part of [this.#fingerprint, ...parts]) hmac.update(`${Buffer.byteLength(part)}:`).update(part)
    return hmac.digest()
  }
}
