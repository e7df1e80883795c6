import type { Guid } from '../domain/guid.ts'
import { Mutex } from '../time/waiting.ts'
import type { Attempt } from './poller.ts'
import type { Failure } from './port.ts'

const NONE: ReadonlySet<Guid> = new Set()

/** Which of the reads of one list may run now. */
export class Turns {
  /** The served rows that a read is about to remove. They may have been created again. */
  leaving: ReadonlySet<Guid> = NONE
  /** Held by a refresh from its beginning to its end, and by an audit while it writes. */
  readonly #turn = new Mutex()
  /**
   * Held by a refresh except while it waits for the other list, and by additions: a list without a cursor cannot make up
   * for rows that a read ignored because another one had written them meanwhile.
   */
  readonly #asking = new Mutex()
  #endAsking: () => void = () => {}
  /** Why additions failed since a read has begun to wait. */
  #failedAddition: Failure | null = null

  /** Delays refreshes until the returned function is called. */
  hold(): Promise<() => void> {
    return this.#turn.lock()
  }

  /** Runs `work` between two refreshes. */
  between<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#turn.run(work)
  }

  /** Runs a refresh. The caller is `between` two others. */
  async refresh(work: () => Promise<Attempt>): Promise<Attempt> {
    this.#endAsking = await this.#asking.lock()
    try {
      return await work()
    } finally {
      this.#endAsking()
    }
  }

  /** Runs a read that only adds rows. Waits for a refresh that is reading, but not for one that waits itself. */
  add(work: () => Promise<Attempt>): Promise<Attempt> {
    return this.#asking.run(async () => {
      const attempt = await work()
      if (!attempt.ok) this.#failedAddition = attempt.failure
      return attempt
    })
  }

  /**
   * Waits until the rows may leave the list. Meanwhile, additions may be read. Returns why the rows must stay, or `null`.
   */
  async leave(
    isRefresh: boolean,
    leaving: ReadonlySet<Guid>,
    until: (leaving: ReadonlySet<Guid>) => Promise<Failure | null>,
  ): Promise<Failure | null> {
    this.leaving = leaving
    this.#failedAddition = null
    if (isRefresh) this.#endAsking()
    try {
      const failure = await until(leaving)
      if (isRefresh) this.#endAsking = await this.#asking.lock()
      // If additions failed, rows that are to be removed may be among them.
      return failure ?? this.#failedAddition
    } finally {
      this.leaving = NONE
    }
  }
}
