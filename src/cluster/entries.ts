// The log: its name, and its entries with their signatures. Instances with another key, mapping or release have another
// log; `OtherLogs` looks for those in use.
import { Buffer } from 'node:buffer'
import type { ListName } from '../domain/field.ts'
import { type JsonFields, fieldsOf, listAt, numberAt, textAt, textOrNullAt } from '../domain/json-value.ts'
import type { ListState } from '../sync/served-list.ts'
import { listStateOf } from '../snapshot/snapshot-lines.ts'
import { BODY_CEILING, pack, unpack } from './snapshot-chunks.ts'
import type { StoredEntry } from './store.ts'
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Time } from '../time/time.ts'
import { TIMED_OUT, sleep, withTimeout } from '../time/waiting.ts'

/** A part of a signed message. */
type Part = string | Buffer

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
   * Returns the other logs that have a leader: those that get an entry within `waitMs`. Reads no earlier entries, which
   * may be too large.
   */
  otherLogsInUse(waitMs: number): Promise<readonly string[]>
  destroy(): void
}

const LOOK_EVERY_MS = 10_000
/** The interval grows while the store does not answer, because what is read there may be too large. */
const LONGEST_EVERY_MS = 160_000
const LIMIT_MS = 5000
/** The time in which a log with a leader gets an entry, in heartbeats. */
export const LOOK_HEARTBEATS = 2

interface OtherLogsOptions {
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
    const waitMs = LOOK_HEARTBEATS * heartbeatMs()
    const connecting = connect()
    const looking = connecting.then((connection) => connection.otherLogsInUse(waitMs))
    const found = await withTimeout(time, LIMIT_MS + waitMs, looking, signal).catch(() => null)
    connecting.then((connection) => connection.destroy()).catch(() => {})
    return found === TIMED_OUT ? null : found
  }
}

/**
 * The position of an entry in the log. It includes the claim id, because an epoch and number may occur again after a
 * store was lost.
 */
export interface LogPosition {
  readonly epoch: number
  readonly number: number
  /** 16 random hex digits, drawn for each claim. */
  readonly claimId: string
}

export interface Ages {
  /** In ms; `null` if the list was never read. */
  readonly details: number | null
  readonly availability: number | null
  readonly audited: number | null
}

/** The state of a list that the leader reports besides its rows. */
export interface ReportedState extends ListState {
  /** Whether the list was read in full once. */
  readonly whole: boolean
  readonly accepting: boolean
  readonly lastError: string | null
  /** Whether `lastError` only says that a file may be half-written. */
  readonly waiting: boolean
  /** The number of failed reads in a row. */
  readonly failures: number
  readonly nextTryMs: number
  /** How long the CRM asked not to be read, in ms; 0 if it did not. */
  readonly askedMs: number
}

/** The content of an entry. Kinds of other releases are skipped. */
export type Head =
  | {
      readonly kind: 'claim'
      readonly instance: string
      readonly version: string
      /**
       * Whether the claim starts a new log instead of continuing. `after` is then the last entry that the claimant's
       * rows include.
       */
      readonly newLog: boolean
      readonly after: LogPosition | null
    }
  /** `updatedAtMs`: the CRM's times of change, by the CRM's clock, for a metric only. */
  | { readonly kind: 'rows'; readonly updatedAtMs: readonly number[] }
  | ({ readonly kind: 'read'; readonly list: ListName } & ReportedState)
  | {
      readonly kind: 'heartbeat'
      readonly instance: string
      readonly ages: Readonly<Record<ListName, Ages>>
      readonly instances: number
      readonly candidates: readonly string[]
      readonly versions: readonly string[]
      readonly refreshEveryMs: number
      /** The leader's heartbeat interval. */
      readonly heartbeatMs: number
      /** The entries that reported a shrunk list that an operator has accepted. */
      readonly accepted: readonly string[]
    }
  | { readonly kind: 'leave'; readonly why: string }
  | { readonly kind: 'unknown' }

export type HeartbeatEntry = Extract<Head, { readonly kind: 'heartbeat' }>

export interface LogEntry {
  readonly position: LogPosition
  readonly head: Head
  readonly body: Buffer
}

/** An entry that is malformed or wrongly signed, with the reason. */
interface RefusedEntry {
  readonly refused: string
}

export const HEAD_CEILING: number = 64 * 1024
/** The highest valid epoch and number. */
const HIGHEST = Number.MAX_SAFE_INTEGER - 1

export const NO_BODY: Buffer = Buffer.alloc(0)

export function idOf({ epoch, number }: Pick<LogPosition, 'epoch' | 'number'>): string {
  return `${epoch}-${number}`
}

export function isSame(left: LogPosition | null, right: LogPosition | null): boolean {
  if (left === null || right === null) return false
  return idOf(left) === idOf(right) && left.claimId === right.claimId
}

/** Compares positions: negative if `left` is before `right` in a log. */
export function compareIds(
  left: Pick<LogPosition, 'epoch' | 'number'>,
  right: Pick<LogPosition, 'epoch' | 'number'>,
): number {
  return left.epoch - right.epoch || left.number - right.number
}

/** Returns true if no claim can be above this position. Instances never get so far: another program was there. */
export function isHighest({ epoch }: Pick<LogPosition, 'epoch'>): boolean {
  return epoch >= HIGHEST
}

/** Returns true if an entry id in the store, possibly written by another program, is below another one. */
export function isBelow(id: string, other: string): boolean {
  return compareIds(parsedId(id), parsedId(other)) < 0
}

function parsedId(id: string): Pick<LogPosition, 'epoch' | 'number'> {
  const [epoch = 0, number = 0] = id.split('-').map(Number)
  return { epoch, number }
}

export function encodeEntry({ position, head, body }: LogEntry, signing: Signing): StoredEntry {
  const id = idOf(position)
  const h = JSON.stringify({ ...head, claimId: position.claimId })
  const b = body.length === 0 ? null : pack(body)
  return { id, h, b, s: signing.sign('log', id, h, b ?? NO_BODY) }
}

export function decodeEntry({ id, h, b, s }: StoredEntry, signing: Signing): LogEntry | RefusedEntry {
  // The size is checked before the signature, because verifying an unlimited body would take too long.
  if (b !== null && b.length > BODY_CEILING)
    return { refused: `entry ${id} has a body of ${b.length} bytes, which is too large` }
  if (!signing.believes(s, 'log', id, h, b ?? NO_BODY)) return { refused: `entry ${id} has a wrong signature` }
  try {
    if (h.length > HEAD_CEILING) throw new Error('the head is too large')
    const given = fieldsOf(JSON.parse(h))
    const [, epoch, number] = /^(\d{1,16})-(\d{1,16})$/.exec(id) ?? []
    const position = { epoch: Number(epoch), number: Number(number), claimId: textAt(given, 'claimId') }
    if (!(position.epoch <= HIGHEST && position.number <= HIGHEST)) throw new Error('there is no higher id')
    return { position, head: headOf(given), body: b === null ? NO_BODY : unpack(b) }
  } catch (cause) {
    return { refused: `entry ${id} cannot be read: ${cause instanceof Error ? cause.message : 'it is broken'}` }
  }
}

function headOf(given: JsonFields): Head {
  switch (given['kind']) {
    case 'claim':
      return {
        kind: 'claim',
        instance: textAt(given, 'instance'),
        version: textAt(given, 'version'),
        newLog: given['newLog'] === true,
        after: logPositionOf(given['after']),
      }
    case 'rows':
      return { kind: 'rows', updatedAtMs: texts(given, 'updatedAtMs').map(Number) }
    case 'read':
      return { kind: 'read', list: given['list'] === 'events' ? 'events' : 'venues', ...reportedStateOf(given) }
    case 'heartbeat': {
      const ages = fieldsOf(given['ages'])
      return {
        kind: 'heartbeat',
        instance: textAt(given, 'instance'),
        ages: { events: agesOf(ages['events']), venues: agesOf(ages['venues']) },
        instances: numberAt(given, 'instances'),
        candidates: texts(given, 'candidates'),
        versions: texts(given, 'versions'),
        refreshEveryMs: numberAt(given, 'refreshEveryMs'),
        heartbeatMs: numberAt(given, 'heartbeatMs'),
        accepted: texts(given, 'accepted'),
      }
    }
    case 'leave':
      return { kind: 'leave', why: textAt(given, 'why') }
    default:
      return { kind: 'unknown' }
  }
}

export function reportedStateOf(given: JsonFields): ReportedState {
  return {
    ...listStateOf(given),
    whole: given['whole'] === true,
    accepting: given['accepting'] === true,
    lastError: textOrNullAt(given, 'lastError'),
    waiting: given['waiting'] === true,
    failures: numberAt(given, 'failures'),
    nextTryMs: numberAt(given, 'nextTryMs'),
    askedMs: numberAt(given, 'askedMs'),
  }
}

export function logPositionOf(value: unknown): LogPosition | null {
  if (value === null || value === undefined) return null
  const given = fieldsOf(value)
  return { epoch: numberAt(given, 'epoch'), number: numberAt(given, 'number'), claimId: textAt(given, 'claimId') }
}

function agesOf(value: unknown): Ages {
  const given = fieldsOf(value)
  const age = (name: string): number | null => (given[name] === null ? null : numberAt(given, name))
  return { details: age('details'), availability: age('availability'), audited: age('audited') }
}

function texts(given: JsonFields, name: string): readonly string[] {
  return listAt(given, name).map((item) => String(item))
}
