import { Buffer } from 'node:buffer'
import { type Moment, type Time, elapsedMs } from '../time/time.ts'
import { fieldsOf, numberAt, textAt, textOrNullAt } from '../domain/json-value.ts'
import { type LogPosition, type Signing, logPositionOf } from './entries.ts'
import type { Heartbeat } from './election.ts'

/** Returns random bytes that nobody can guess. */
export type Draw = (bytes: number) => Uint8Array

/** Returns 8 random bytes as 16 hex digits. */
export function drawName(draw: Draw): string {
  return Buffer.from(draw(8)).toString('hex')
}

/** The information that an instance writes beside its number. */
export interface NonceNotes {
  readonly version: string
  /** Whether it could read the CRM. */
  readonly isFit: boolean
  readonly needsSnapshot: boolean
  /** Its heartbeat interval. */
  readonly heartbeatMs: number
  /** The entry that reported the shrunk list which an operator accepts; `null` if none does. */
  readonly accepts: LogPosition | null
}

const MOST_OWN = 100
/** The most nonces. If there are more, none is read. */
export const MOST_NONCES = 10_000
/** The number of unverified nonces that are checked per heartbeat; each costs a signature. */
const MOST_LOOKS = 1000
/** Our own nonces have about 300 characters. */
const MOST_CHARACTERS = 4096
const STANDS_STILL_MS = 30_000
/**
 * An instance counts as gone after this time without a new nonce, or after four heartbeats, its own or the leader's, if
 * that is longer.
 */
const LEAST_LIVING_MS = 2000
const PAIR_BYTES = 16

/**
 * The nonces of this instance, with the time at which each was made. A heartbeat that carries a nonce was written after
 * that time. So if the heartbeat gives the data an age, the data is at most that much older than the time. Delays make
 * data look older, never younger.
 */
export class OwnNonces {
  readonly instance: string
  readonly #noted = new Map<string, Moment>()
  readonly #draw: Draw
  readonly #time: Time
  readonly #signing: Signing

  constructor(instance: string, draw: Draw, time: Time, signing: Signing) {
    this.instance = instance
    this.#draw = draw
    this.#time = time
    this.#signing = signing
  }

  /** Returns a fresh nonce. Its time is taken before it can be written. */
  next(notes: NonceNotes): string {
    const number = drawName(this.#draw)
    this.#noted.set(number, this.#time.now())
    const [oldest] = this.#noted.keys()
    if (this.#noted.size > MOST_OWN && oldest !== undefined) this.#noted.delete(oldest)
    const nonce = JSON.stringify({ number, ...notes })
    return JSON.stringify({ nonce, s: this.#signing.sign('nonces', this.instance, nonce) })
  }

  /** Returns when the nonce of ours in a heartbeat's body was made; `null` if the body has none of our last hundred. */
  notedIn(body: Buffer): Moment | null {
    for (let at = 0; at + PAIR_BYTES <= body.length; at += PAIR_BYTES) {
      if (body.toString('hex', at, at + 8) !== this.instance) continue
      return this.#noted.get(body.toString('hex', at + 8, at + PAIR_BYTES)) ?? null
    }
    return null
  }
}

interface VerifiedNonce extends NonceNotes {
  readonly number: string
}

interface SeenNonce {
  readonly text: string
  /** When the nonce last changed. */
  readonly movedAt: Moment
  /** `null` if it was refused. */
  readonly verified: VerifiedNonce | null
}

/** All instances' nonces as the leader sees them, the oldest instances first. */
export class SeenNonces {
  /** The number of nonces that were refused, or not checked yet. */
  strange = 0
  readonly #seen = new Map<string, SeenNonce>()
  /** The verified nonces that changed within the last heartbeats. */
  #living: readonly (readonly [string, VerifiedNonce])[] = []
  readonly #signing: Signing
  readonly #time: Time
  readonly #heartbeat: Heartbeat

  constructor(signing: Signing, time: Time, heartbeat: Heartbeat) {
    this.#signing = signing
    this.#time = time
    this.#heartbeat = heartbeat
  }

  get size(): number {
    return this.#living.length
  }

  get versions(): readonly string[] {
    return [...new Set(this.#living.map(([, { version }]) => version))].toSorted()
  }

  get needsSnapshot(): boolean {
    return this.#living.some(([, { needsSnapshot }]) => needsSnapshot)
  }

  /** The entries that reported shrunk lists which operators have accepted. */
  get accepts(): readonly LogPosition[] {
    return [...this.#seen.values()].flatMap(({ verified }) => verified?.accepts ?? [])
  }

  /** Returns the instances except `leader` that could read the CRM, the oldest first. */
  fit(leader: string, most: number): readonly string[] {
    const fit = this.#living.filter(([instance, { isFit }]) => isFit && instance !== leader)
    return fit.slice(0, Math.max(0, most)).map(([instance]) => instance)
  }

  /** Takes in the nonces that were read. Returns the instances whose nonces no longer change and should be dropped. */
  take(nonces: ReadonlyMap<string, string>): readonly string[] {
    const now = this.#time.now()
    const dropped: string[] = []
    let looks = 0
    for (const instance of this.#seen.keys()) if (!nonces.has(instance)) this.#seen.delete(instance)
    for (const [instance, text] of nonces) {
      const before = this.#seen.get(instance)
      const known = before?.verified ?? null
      if (before?.text === text) {
        const mostMs = Math.max(STANDS_STILL_MS, 4 * (known?.heartbeatMs ?? 0))
        if (elapsedMs(before.movedAt, now) > mostMs) dropped.push(instance)
      } else if (known !== null || ++looks <= MOST_LOOKS) {
        const isTooMuch = text.length > MOST_CHARACTERS
        if (isTooMuch) dropped.push(instance)
        const verified = isTooMuch ? null : this.#read(instance, text)
        this.#seen.set(instance, { text: isTooMuch ? '' : text, movedAt: now, verified })
      }
    }
    this.strange = nonces.size - this.#verified().length
    for (const instance of dropped) this.#seen.delete(instance)
    // By the monotonic clock: setting the wall clock must not make an instance look silent.
    this.#living = this.#verified().filter(([, { heartbeatMs, movedAt }]) => {
      const longestMs = Math.max(LEAST_LIVING_MS, 4 * Math.max(heartbeatMs, this.#heartbeat.ms))
      return now.monotonicMs - movedAt.monotonicMs <= longestMs
    })
    return dropped
  }

  #verified(): readonly (readonly [string, VerifiedNonce & Pick<SeenNonce, 'movedAt'>])[] {
    return Array.from(this.#seen).flatMap(([instance, { verified, movedAt }]) =>
      verified === null ? [] : [[instance, { ...verified, movedAt }]],
    )
  }

  /** Encodes each instance with its number, for a heartbeat's body. */
  pairs(): Buffer {
    return Buffer.from(
      this.#verified()
        .map(([instance, { number }]) => instance + number)
        .join(''),
      'hex',
    )
  }

  #read(instance: string, given: string): VerifiedNonce | null {
    if (!NAME.test(instance)) return null
    try {
      const outer = fieldsOf(JSON.parse(given))
      const nonce = textAt(outer, 'nonce')
      if (!this.#signing.believes(textOrNullAt(outer, 's'), 'nonces', instance, nonce)) return null
      const fields = fieldsOf(JSON.parse(nonce))
      const number = textAt(fields, 'number')
      if (!NAME.test(number)) return null
      return {
        number,
        version: textAt(fields, 'version'),
        isFit: fields['isFit'] === true,
        needsSnapshot: fields['needsSnapshot'] === true,
        heartbeatMs: numberAt(fields, 'heartbeatMs'),
        accepts: logPositionOf(fields['accepts']),
      }
    } catch {
      return null
    }
  }
}

const NAME = /^[0-9a-f]{16}$/
