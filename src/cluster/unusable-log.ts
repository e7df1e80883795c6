import type { Time } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'
import { type Session, isFault } from './store.ts'

/**
 * The state of an unusable log. `led`: an instance writes to it. `abandoned`: no instance does. `changed`: the log has
 * become usable although nothing was added, so it must be examined again. `waits`: not known yet.
 */
export type LogFate = 'led' | 'waits' | 'abandoned' | 'changed'

/** Returns true if the log still cannot be used. */
type Check = (session: Session) => Promise<boolean>

/** The time in which nothing was added, as observed on one session. */
interface Silence {
  readonly session: Session
  readonly sinceMs: number
  looks: number
  /**
   * Whether the last entry arrives within the time limit, if that is in doubt; `asked` until it is known. `late`: it did
   * not before the silence was over, but may now.
   */
  arrives: 'unknown' | 'asked' | 'late' | 'yes' | 'no'
}

const LEAST_LOOKS = 3

/**
 * A log that cannot be read, verified or written. It counts as abandoned if nothing was added during an election time
 * and three looks, while the store answered on the same session. A log that an instance leads is never dropped.
 */
export class UnusableLog {
  /** `null` if the log is usable, as far as is known. */
  why: string | null = null
  readonly #time: Time
  readonly #electionMs: () => number
  readonly #arrives: () => Promise<boolean>
  readonly #tell: (why: string) => void
  #check: Check = () => Promise.resolve(false)
  /** Whether the last entry did not arrive in time. */
  #isLate = false
  /** The number of reads in a row that timed out. */
  #late = 0
  #silence: Silence | null = null
  #told: string | null = null

  /** @param arrives reads the last entry on a separate session, and returns whether it arrives in time */
  constructor(time: Time, electionMs: () => number, arrives: () => Promise<boolean>, tell: (why: string) => void) {
    this.#time = time
    this.#electionMs = electionMs
    this.#arrives = arrives
    this.#tell = tell
  }

  /** Notes why the log cannot be used. `check` is called before the log is dropped. */
  found(why: string, check: Check, isLate = false): void {
    if (this.why !== null) return
    this.why = why
    this.#check = check
    this.#isLate = isLate
    if (this.#told !== why) this.#tell(why)
    this.#told = why
  }

  /**
   * Notes that entries could not be read.
   * @param leastLate how many reads must have timed out before the log counts as unusable
   */
  failed(cause: unknown, leastLate: number, check: Check): void {
    if (isFault(cause, 'foreign')) this.found(cause.message, check)
    if (isFault(cause, 'late') && ++this.#late >= leastLate) {
      this.found(`an entry of the log could not be read: ${cause.message}`, check, true)
    }
  }

  /** Notes that an entry was read and verified. */
  read(): void {
    this.#late = 0
    this.#told = null
  }

  /** Notes that the log is usable again, or replaced. */
  clear(): void {
    this.why = null
    this.#late = 0
    this.moved()
  }

  /** Notes that an entry was added: the silence begins again. */
  moved(): void {
    this.#silence = null
  }

  /**
   * Looks whether an instance leads the log.
   * @param mayDrop whether it is this instance's turn to replace the log
   */
  async look(session: Session, waitMs: number, mayDrop: boolean, signal: AbortSignal): Promise<LogFate> {
    if (await this.#moves(session, waitMs, signal)) {
      this.clear()
      return 'led'
    }
    await session.ask((store) => store.ping())
    const { monotonicMs } = this.#time.now()
    if (this.#silence?.session !== session) {
      this.#silence = { session, sinceMs: monotonicMs - waitMs, looks: 0, arrives: this.#isLate ? 'unknown' : 'yes' }
    }
    const silence = this.#silence
    silence.looks++
    if (!mayDrop) return 'waits'
    const isOver = this.#isOver(silence)
    if (silence.arrives === 'unknown' || (isOver && silence.arrives === 'late')) {
      // This may take as long as the silence, so it begins with the silence.
      silence.arrives = 'asked'
      void this.#arrives().then((isSo) => (silence.arrives = isSo ? 'yes' : this.#isOver(silence) ? 'no' : 'late'))
    }
    if (!isOver || silence.arrives === 'asked') return 'waits'
    if (silence.arrives === 'no' || (await this.#check(session))) return 'abandoned'
    // If the log is unusable for another reason next, the silence so far counts. Waiting for a second silence would
    // make the lists of followers too old to serve.
    this.why = null
    return 'changed'
  }

  #isOver({ looks, sinceMs }: Silence): boolean {
    return looks >= LEAST_LOOKS && this.#time.now().monotonicMs - sinceMs >= this.#electionMs()
  }

  async #moves(session: Session, waitMs: number, signal: AbortSignal): Promise<boolean> {
    try {
      return await session.ask((store) => store.moves(waitMs), waitMs)
    } catch (cause) {
      if (!isFault(cause, 'foreign')) throw cause
      await sleep(waitMs, this.#time, signal)
      return false
    }
  }
}
