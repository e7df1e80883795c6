import { Buffer } from 'node:buffer'
import { type Moment, type Time, elapsedMs } from '../time/time.ts'
import { fieldsOf } from '../records/row-records.ts'
import { type LogPosition, logPositionOf, numberAt, textAt, textOrNullAt } from './entries.ts'
import type { Heartbeat } from './election.ts'
import type { Signing } from './signing.ts'

/** As many random bytes as asked for, that nobody can guess. */
export type Draw = (bytes: number) => Uint8Array

/** 8 random bytes as 16 hex digits. */
export function drawName(draw: Draw): string {
  return Buffer.from(draw(8)).toString('hex')
}

/** What an instance writes beside its number. */
export interface NonceNotes {
  readonly version: string
  /** It could read the CRM. */
  readonly isFit: boolean
  readonly needsSnapshot: boolean
  /** How often it writes one. */
  readonly heartbeatMs: number
  /** The entry that told of a list which is not believed and which an operator accepts; null where none does. */
  readonly accepts: LogPosition | null
}

const MOST_OWN = 100
/** Of more than so many none is read. */
export const MOST_MARKS = 10_000
/** So many are looked at in a heartbeat that were not believed by then: a signature each. */
const MOST_LOOKS = 1000
/** Ours have some 300. */
const MOST_CHARACTERS = 4096
const STANDS_STILL_MS = 30_000
/** Whose nonce did not move for so long, and four heartbeats, theirs and the leader's, is taken to be gone. */
const LEAST_LIVING_MS = 2000
const PAIR_BYTES = 16

/**
 * The numbers that this instance wrote, and when: a heartbeat that carries one was made after that moment of our own clocks, so what
 * it calls `age` old is at most that much older than the moment. Whatever is slow in between makes it look older, never younger.
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

  /** A fresh nonce; the clocks are looked at before it can be written. */
  next(notes: NonceNotes): string {
    const number = drawName(this.#draw)
    this.#noted.set(number, this.#time.now())
    const [oldest] = this.#noted.keys()
    if (this.#noted.size > MOST_OWN && oldest !== undefined) this.#noted.delete(oldest)
    const nonce = JSON.stringify({ number, ...notes })
    return JSON.stringify({ nonce, s: this.#signing.sign('nonces', this.instance, nonce) })
  }

  /** When the number was noted that a heartbeat's body carries of us, null where it carries none of the last hundred. */
  notedIn(body: Buffer): Moment | null {
    for (let at = 0; at + PAIR_BYTES <= body.length; at += PAIR_BYTES) {
      if (body.toString('hex', at, at + 8) !== this.instance) continue
      return this.#noted.get(body.toString('hex', at + 8, at + PAIR_BYTES)) ?? null
    }
    return null
  }
}

interface SeenNonce extends NonceNotes {
  readonly text: string
  readonly number: string
  /** When it was first seen to be what it is. */
  readonly movedAt: Moment
}

/** All instances' nonces as the leader sees them, those that were there first at the front. */
export class SeenNonces {
  /** How many are not believed, or not looked at yet. */
  strange = 0
  readonly #seen = new Map<string, SeenNonce>()
  /** What is not believed, and since when it is what it is. */
  readonly #strange = new Map<string, Pick<SeenNonce, 'text' | 'movedAt'>>()
  /** Those of `#seen` that moved within the last heartbeats. */
  #living: readonly (readonly [string, SeenNonce])[] = []
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

  /** The entries that told of a list which got too short to be believed, where operators have said that it is right. */
  get accepts(): readonly LogPosition[] {
    return [...this.#seen.values()].flatMap(({ accepts }) => accepts ?? [])
  }

  /** The instances that could read the CRM but `leader`: those that were there the longest. */
  fit(leader: string, most: number): readonly string[] {
    const fit = this.#living.filter(([instance, { isFit }]) => isFit && instance !== leader)
    return fit.slice(0, Math.max(0, most)).map(([instance]) => instance)
  }

  /**
   * Takes in what was read; returns the instances whose nonces are to be dropped, since they stood still.
   */
  take(nonces: ReadonlyMap<string, string>): readonly string[] {
    const now = this.#time.now()
    const dropped: string[] = []
    let looks = 0
    for (const known of [this.#seen, this.#strange]) {
      for (const instance of known.keys()) if (!nonces.has(instance)) known.delete(instance)
    }
    for (const [instance, text] of nonces) {
      const seen = this.#seen.get(instance)
      const before = seen ?? this.#strange.get(instance)
      if (before?.text === text) {
        const mostMs = seen === undefined ? STANDS_STILL_MS : Math.max(STANDS_STILL_MS, 4 * seen.heartbeatMs)
        if (elapsedMs(before.movedAt, now) <= mostMs) continue
        dropped.push(instance)
        this.#seen.delete(instance)
        this.#strange.delete(instance)
        continue
      }
      if (seen === undefined && ++looks > MOST_LOOKS) continue
      const nonce = this.#read(instance, text)
      if (nonce !== null) {
        this.#seen.set(instance, { ...nonce, text, movedAt: now })
        this.#strange.delete(instance)
        continue
      }
      this.#seen.delete(instance)
      const isTooMuch = text.length > MOST_CHARACTERS
      if (isTooMuch) dropped.push(instance)
      this.#strange.set(instance, { text: isTooMuch ? '' : text, movedAt: now })
    }
    this.strange = nonces.size - this.#seen.size
    // By the monotonic clock: a wall clock that is set is no silence of theirs.
    this.#living = [...this.#seen].filter(([, { movedAt, heartbeatMs }]) => {
      const longestMs = Math.max(LEAST_LIVING_MS, 4 * Math.max(heartbeatMs, this.#heartbeat.ms))
      return now.monotonicMs - movedAt.monotonicMs <= longestMs
    })
    return dropped
  }

  /** What a heartbeat carries: each instance and its number. */
  pairs(): Buffer {
    return Buffer.from([...this.#seen].map(([instance, { number }]) => instance + number).join(''), 'hex')
  }

  #read(instance: string, given: string): (NonceNotes & { readonly number: string }) | null {
    if (!NAME.test(instance) || given.length > MOST_CHARACTERS) return null
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
        // Another release may not tell.
        heartbeatMs: fields['heartbeatMs'] === undefined ? 0 : numberAt(fields, 'heartbeatMs'),
        accepts: logPositionOf(fields['accepts']),
      }
    } catch {
      return null
    }
  }
}

const NAME = /^[0-9a-f]{16}$/
