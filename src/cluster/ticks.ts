// The echo. An instance notes the time on its own clocks, and then writes a tick. The leader reads all ticks, then takes
// the age of its data, and sends both with its next beat. An instance that finds its tick there knows: at the time that
// it noted, its lists were at most that old. A delay, a repeat or an older beat only makes data look older.
//
// The obvious rule, that a beat which was not there at the last look was written since, is wrong: a script may lie in a
// socket for seconds, and a proxy shows old beats again.

import type { Moment, Time } from '../time/time.ts'
import { type Said, decodeSaid, encodeSaid } from './beat.ts'

/** Ticks of which an echo may still come. */
const MOST_NOTED = 1000

/** The ticks of this instance. */
export class OwnTicks {
  readonly instance: string
  readonly #time: Time
  readonly #notedAt = new Map<number, Moment>()
  #last = 0

  constructor(instance: string, time: Time) {
    this.instance = instance
    this.#time = time
  }

  /** Notes the time, and returns the text to be written from now on. */
  next(said: Omit<Said, 'tick'>): string {
    const tick = ++this.#last
    this.#notedAt.set(tick, this.#time.now())
    this.#notedAt.delete(tick - MOST_NOTED)
    return encodeSaid({ tick, ...said })
  }

  /** Returns when the tick in a beat was noted; `null` if there is none of ours. */
  notedAt(ticks: ReadonlyMap<string, number>): Moment | null {
    return this.notedOf(ticks.get(this.instance) ?? 0)
  }

  notedOf(tick: number): Moment | null {
    return this.#notedAt.get(tick) ?? null
  }
}

/** A member that says nothing new for so many of its heartbeats is gone. */
const SILENT_HEARTBEATS = 10
const LEAST_SILENT_MS = 5000
/** The members that claim before all others. */
const MOST_CANDIDATES = 3

interface Member {
  readonly said: Said
  readonly changedMs: number
}

/** What the other instances say, as the leader reads it. */
export class Members {
  readonly #time: Time
  #members: ReadonlyMap<string, Member> = new Map()

  constructor(time: Time) {
    this.#time = time
  }

  /** Reads the entries of all members. Returns the members that are gone, so that the caller removes their entries. */
  take(texts: ReadonlyMap<string, string>): readonly string[] {
    const nowMs = this.#time.now().monotonicMs
    const before = this.#members
    const members = new Map<string, Member>()
    const gone: string[] = []
    for (const [name, text] of texts) {
      const said = decodeSaid(text)
      const known = before.get(name)
      const changedMs = said !== null && known?.said.tick === said.tick ? known.changedMs : nowMs
      if (said === null || nowMs - changedMs > silentMs(said)) gone.push(name)
      else members.set(name, { said, changedMs })
    }
    this.#members = members
    return gone
  }

  get ticks(): ReadonlyMap<string, number> {
    return new Map([...this.#members].map(([name, { said }]) => [name, said.tick]))
  }

  /** Returns the instances that count, this one included. */
  count(instance: string): number {
    return this.#members.size + (this.#members.has(instance) ? 0 : 1)
  }

  /** Returns those that follow the leader if it goes, in their order. */
  candidates(leader: string): readonly string[] {
    const fit = [...this.#members].filter(([name, { said }]) => said.isFit && name !== leader)
    return fit
      .map(([name]) => name)
      .toSorted()
      .slice(0, MOST_CANDIDATES)
  }

  versions(own: string): readonly string[] {
    return [...new Set([own, ...[...this.#members.values()].map(({ said }) => said.version)])].toSorted()
  }

  get accepts(): ReadonlySet<string> {
    return new Set([...this.#members.values()].flatMap(({ said }) => said.accepts))
  }

  /** Returns true if a member cannot use the rows that were stored for this token. */
  lack(token: string): boolean {
    return [...this.#members.values()].some(({ said }) => said.lacks === token)
  }
}

function silentMs({ heartbeatMs }: Said): number {
  return Math.max(LEAST_SILENT_MS, SILENT_HEARTBEATS * heartbeatMs)
}
