import { createHmac, timingSafeEqual } from 'node:crypto'
import { Buffer } from 'node:buffer'

/** What is signed together: texts and bytes, in order. */
type Part = string | Uint8Array

/** Keys as their source holds them now; null where they are the same, or cannot be read. */
export type ReadKeys = () => Promise<readonly string[] | null>

/**
 * Signs what goes to the store, and tells whether what comes from it was signed by one who has a key. The first key signs, all
 * are believed, so that one can be replaced by the next. Without keys nothing is signed, and nothing signed is believed: all
 * instances of a scope have to agree.
 */
export class Signing {
  /** Something was not believed since the keys were read. */
  isDoubted = false
  #keys: readonly string[]
  readonly #scope: string
  readonly #read: ReadKeys

  constructor(scope: string, keys: readonly string[], read: ReadKeys = () => Promise.resolve(null)) {
    this.#scope = scope
    this.#keys = keys
    this.#read = read
  }

  /** Reads the keys again; whether they are others now. */
  async renew(): Promise<boolean> {
    this.isDoubted = false
    const keys = await this.#read()
    if (keys !== null) this.#keys = keys
    return keys !== null
  }

  /** Null where there is no key. */
  sign(...parts: readonly Part[]): string | null {
    const [key] = this.#keys
    return key === undefined ? null : this.#digest(key, parts).toString('base64url')
  }

  believes(signature: string | null, ...parts: readonly Part[]): boolean {
    if (this.#keys.length === 0) return signature === null
    const given = Buffer.from(signature ?? '', 'base64url')
    const isBelieved = this.#keys.some((key) => {
      const digest = this.#digest(key, parts)
      return digest.length === given.length && timingSafeEqual(digest, given)
    })
    if (!isBelieved) this.isDoubted = true
    return isBelieved
  }

  /** Each part behind its length: two lists of parts never give the same bytes. */
  #digest(key: string, parts: readonly Part[]): Buffer {
    const hmac = createHmac('sha256', key)
    for (const part of [this.#scope, ...parts]) hmac.update(`${Buffer.byteLength(part)}:`).update(part)
    return hmac.digest()
  }
}
