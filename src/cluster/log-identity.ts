// The identity of a log: its name and the signatures of its entries. Instances with another key, mapping or release
// have another log, which this file looks for.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Buffer } from 'node:buffer'
import type { Time } from '../time/time.ts'
import { sleep, TIMED_OUT, withTimeout } from '../time/waiting.ts'

/** A part of a signed message. */
type Part = string | Uint8Array

const KEY_DIGITS = 8

/**
 * Returns the name of the log for these records. Instances with another key have another log, which this one never
 * touches. So an entry that cannot be verified comes from another program, not from an instance with another key.
 */
export function logNameOf(fingerprint: string, key: string | null): string {
  if (key === null) return fingerprint
  return `${fingerprint}-${createHmac('sha256', key).update('log').digest('hex').slice(0, KEY_DIGITS)}`
}

/** Explains why a log with this name is not `own`. */
export function whyOtherLog(name: string, own: string): string {
  const [fingerprint] = own.split('-')
  return name.split('-')[0] === fingerprint
    ? 'it uses another cluster.key: set the same key on all instances'
    : 'it is from another release, CRM or mapping, which is normal during a roll-out'
}

/** Signs the data for the store, and verifies the data from it. Without a key nothing is signed. */
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

/** A connection that examines the logs under the same name. */
interface OtherLogsConnection {
  /**
   * Returns the other logs that have a leader: an entry is added to them within `waitMs`. Reads no earlier entries,
   * however large they are.
   */
  otherLogsInUse(waitMs: number): Promise<readonly string[]>
  destroy(): void
}

const LOOK_EVERY_MS = 10_000
/** The interval grows while the store does not answer, because what is read there may be too large. */
const LONGEST_EVERY_MS = 160_000
const LIMIT_MS = 5000
/** How long it takes to see that a log has a leader, in heartbeats. */
export const LOOK_HEARTBEATS = 2

export interface OtherLogsOptions {
  readonly connect: () => Promise<OtherLogsConnection>
  readonly time: Time
  readonly heartbeatMs: () => number
  /** Called when the list changes. */
  readonly tell: (names: readonly string[]) => void
}

/** Looks for other logs at intervals, on a separate connection that delays nothing else. */
export class OtherLogs {
  names: readonly string[] = []
  readonly #options: OtherLogsOptions

  constructor(options: OtherLogsOptions) {
    this.#options = options
  }

  async run(signal: AbortSignal): Promise<void> {
    const { time, tell } = this.#options
    let everyMs = LOOK_EVERY_MS
    while (!signal.aborted) {
      const names = await this.#look(signal)
      everyMs = names === null ? Math.min(LONGEST_EVERY_MS, 2 * everyMs) : LOOK_EVERY_MS
      if (names !== null && names.join() !== this.names.join()) {
        this.names = names
        tell(names)
      }
      await sleep(everyMs, time, signal)
    }
  }

  /** Returns the names of the other logs; `null` if the store does not answer. */
  async #look(signal: AbortSignal): Promise<readonly string[] | null> {
    const { connect, time, heartbeatMs } = this.#options
    const connecting = connect()
    try {
      const connection = await withTimeout(time, LIMIT_MS, connecting, signal)
      if (connection === TIMED_OUT) return null
      const waitMs = LOOK_HEARTBEATS * heartbeatMs()
      const found = await withTimeout(time, LIMIT_MS + waitMs, connection.otherLogsInUse(waitMs), signal)
      return found === TIMED_OUT || signal.aborted ? null : found
    } catch {
      return null
    } finally {
      connecting.then((connection) => connection.destroy()).catch(() => {})
    }
  }
}
