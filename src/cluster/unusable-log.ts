import type { Time } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'
import { type Session, StoreFailure } from './store.ts'

/**
 * The state of an unusable log. `led`: an instance writes to it. `abandoned`: no instance does. `changed`: the log has
 * become readable although nothing was added, so it must be examined again. `waits`: not known yet.
 */
export type LogFate = 'led' | 'waits' | 'abandoned' | 'changed'

/** What a check of the log found. `late`: it could not be read within the time limit. */
export type LogFinding = 'usable' | 'unusable' | 'late'

/** Checks, before the log is dropped, whether it is still unusable. */
type Check = (session: Session) => Promise<LogFinding>

interface PendingCheck {
  readonly finding: Promise<LogFinding>
  readonly isDone: boolean
}

const LEAST_LOOKS = 3

/**
 * A log that cannot be read, verified or written. It counts as abandoned if nothing was added during an election time
 * and three checks, while the store answered on the same session. A log that an instance leads is never dropped.
 */
export class UnusableLog {
  /** `null` if the log is usable, as far as is known. */
  why: string | null = null
  readonly #time: Time
  readonly #open: () => Promise<Session>
  readonly #electionMs: () => number
  readonly #tell: (why: string) => void
  #check: Check = () => Promise.resolve('usable')
  #session: Session | null = null
  #sinceMs = 0
  #looks = 0
  #late = 0
  /** The check that began together with the silence. */
  #pending: PendingCheck | null = null
  #told: string | null = null

  constructor(time: Time, open: () => Promise<Session>, electionMs: () => number, tell: (why: string) => void) {
    this.#time = time
    this.#open = open
    this.#electionMs = electionMs
    this.#tell = tell
  }

  found(why: string, check: Check): void {
    if (this.why !== null) return
    this.why = why
    this.#check = check
    if (this.#told !== why) this.#tell(why)
    this.#told = why
  }

  /**
   * Notes that entries could not be read.
   * @param leastLate how many reads must have timed out before the log counts as unusable
   */
  failed(cause: unknown, leastLate: number, check: Check): void {
    if (!(cause instanceof StoreFailure)) return
    if (cause.fault === 'foreign') this.found(cause.message, check)
    if (cause.fault === 'late' && ++this.#late >= leastLate) {
      this.found(`an entry of the log could not be read: ${cause.message}`, check)
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
    this.#session = null
  }

  /**
   * Checks whether an instance leads the log.
   * @param mayDrop whether it is this instance's turn to replace the log. If so, the log is read once more before the
   * result is `abandoned`.
   */
  async look(session: Session, waitMs: number, mayDrop: boolean, signal: AbortSignal): Promise<LogFate> {
    if (await this.#moves(session, waitMs, signal)) return this.#isLed()
    await session.ask((store) => store.ping())
    const { monotonicMs } = this.#time.now()
    if (session !== this.#session) {
      this.#session = session
      this.#sinceMs = monotonicMs - waitMs
      this.#looks = 0
      this.#pending = null
    }
    this.#looks++
    if (!mayDrop) return 'waits'
    // The check may take as long as the silence, so it begins with the silence.
    this.#pending ??= this.#begin()
    if (this.#looks < LEAST_LOOKS || monotonicMs - this.#sinceMs < this.#electionMs()) return 'waits'
    // A check that has already ended is older than the end of the silence, so another one begins.
    const pending = this.#pending.isDone ? this.#begin() : this.#pending
    this.#pending = null
    // Until the check ends, another instance may replace the log.
    do {
      if (await this.#moves(session, waitMs, signal)) return this.#isLed()
    } while (!pending.isDone && !signal.aborted)
    let finding = await pending.finding
    // The log may have become usable since then. A late check is not repeated, because followers wait for it too.
    if (finding === 'unusable') finding = await this.#check(session)
    if (finding !== 'usable') return 'abandoned'
    // If the log is unusable for another reason next, the silence so far counts. Waiting for a second silence would
    // make the lists of followers too old to serve.
    this.why = null
    return 'changed'
  }

  #begin(): PendingCheck {
    const pending = { finding: this.#checkApart(), isDone: false }
    void pending.finding.then(() => (pending.isDone = true))
    return pending
  }

  /** Uses a separate connection, because the one on which the silence was observed must keep answering. */
  async #checkApart(): Promise<LogFinding> {
    const session = await this.#open().catch(() => null)
    if (session === null) return 'usable'
    try {
      return await this.#check(session)
    } catch {
      return 'usable'
    } finally {
      session.close()
    }
  }

  async #moves(session: Session, waitMs: number, signal: AbortSignal): Promise<boolean> {
    try {
      return await session.ask((store) => store.moves(waitMs), waitMs)
    } catch (cause) {
      if (!(cause instanceof StoreFailure) || cause.fault !== 'foreign') throw cause
      await sleep(waitMs, this.#time, signal)
      return false
    }
  }

  #isLed(): LogFate {
    this.clear()
    return 'led'
  }
}
