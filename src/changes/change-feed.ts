// The changes of what is served, for callers and webhooks. In: the lists and their writes. Out: pages of changes, and a
// call back when there is one.

import { createHash } from 'node:crypto'
import type { RecordLists } from '../records/row-records.ts'
import type { Time } from '../time/time.ts'
import { type ChangePage, type KeptChanges, type SharedContent, ChangeJournal } from './change-journal.ts'

/** The most changes of a page. */
const MOST_CHANGES = 1000
/** How many callers may wait for a change at once. */
const MOST_WAITING = 1000

/** Why a caller stopped waiting for a change. */
export type Waited = 'changed' | 'elapsed' | 'gone' | 'too-many' | 'stopping'

/** Follows the lists that are served, also when they are replaced. */
export class ChangeFeed {
  readonly #served: () => RecordLists
  readonly #time: Time
  /** Identifies the settings by which records are written. */
  #form: string
  /** `null` until somebody asks for changes, or a snapshot has them. */
  #journal: ChangeJournal | null = null
  /** Whether a position was given that no snapshot knows. */
  #isNews = false
  #isKept = false
  /** The last position that each webhook was told, by its key. */
  #told: Readonly<Record<string, string>> = {}
  #waiting = 0
  #isStopping = false

  /** @param form the settings by which records are written, as text */
  constructor(served: () => RecordLists, time: Time, form: string) {
    this.#served = served
    this.#time = time
    this.#form = digestOf(form)
  }

  /** Goes on with the changes of the process before. The lists are as its snapshot has them. */
  resume(kept: KeptChanges): void {
    this.#told = kept.told
    // All that was read before reads differently now.
    if (kept.form !== this.#form) return
    this.#journal = new ChangeJournal(this.#served(), this.#nowMs, kept)
  }

  /** Takes the settings by which records are written from now on. Others begin a new history, as every record differs. */
  adopt(form: string): void {
    const digest = digestOf(form)
    if (digest === this.#form) return
    this.#form = digest
    if (this.#journal !== null) this.#begin()
  }

  /** Whether callers have a position that the last snapshot does not know. */
  get isNews(): boolean {
    return this.#isNews
  }

  /** The position from which on everything is still to come. */
  get now(): string {
    this.#isNews ||= !this.#isKept
    return this.#current.now
  }

  /** Returns the changes since a position; `null` if the position is unknown here. */
  since(position: string): ChangePage | null {
    this.#isNews ||= !this.#isKept
    return this.#current.since(position, MOST_CHANGES)
  }

  /** Returns the last position that a webhook was told; `null` if it was told none. */
  toldTo(webhook: string): string | null {
    return this.#told[webhook] ?? null
  }

  /** Notes the last position that a webhook was told. */
  tell(webhook: string, position: string): void {
    this.#told = { ...this.#told, [webhook]: position }
  }

  /** Returns what a snapshot keeps. */
  kept(): KeptChanges | null {
    this.#isNews = false
    this.#isKept = true
    return this.#journal === null ? null : { ...this.#journal.kept(), told: this.#told, form: this.#form }
  }

  /**
   * Returns what to call with a write in the store of the cluster, once it is there. Instances that hold the same content
   * know each other's positions by it, if they write records alike. `isAll`: all that the lists hold now will be in the store.
   */
  marking(lists: RecordLists, isAll = true): (content: SharedContent) => void {
    const { events, venues } = this.#served()
    if (lists.events !== events || lists.venues !== venues) return () => {}
    const journal = this.#current
    const at = isAll ? journal.last : null
    const form = this.#form
    return ({ token, seq }) => journal.mark({ token: digestOf(`${form} ${token}`), seq }, at)
  }

  /** Resolves at the next change, after `ms`, or once the caller has hung up. */
  async change(ms: number, onHangUp: (leave: () => void) => (() => void) | undefined): Promise<Waited> {
    if (this.#isStopping) return 'stopping'
    if (this.#waiting >= MOST_WAITING) return 'too-many'
    const { promise, resolve } = Promise.withResolvers<'changed' | 'elapsed' | 'gone'>()
    const cancel = this.#time.after(ms, () => resolve('elapsed'))
    // Changes come in groups: whoever waits is told of a whole group.
    const forget = this.#current.afterChange(() => void this.#time.after(GROUP_MS, () => resolve('changed')))
    // A caller that has hung up must not occupy a place.
    const stay = onHangUp(() => resolve('gone'))
    this.#waiting++
    const waited = await promise
    this.#waiting--
    stay?.()
    cancel()
    forget()
    return this.#isStopping ? 'stopping' : waited
  }

  /** Lets nobody wait any longer. */
  stop(): void {
    this.#isStopping = true
    // Reads may change rows until the last snapshot, which has them: they must be noted.
    this.#journal?.wake()
  }

  readonly #nowMs = (): number => this.#time.now().wallMs

  /** The journal of the lists that are served now. Lists that replaced others have a history of their own. */
  get #current(): ChangeJournal {
    return this.#journal?.isOf(this.#served()) === true ? this.#journal : this.#begin()
  }

  /** Begins a new history, and wakes all callers that wait for a change of the old one. */
  #begin(): ChangeJournal {
    this.#journal?.end()
    this.#journal = new ChangeJournal(this.#served(), this.#nowMs)
    this.#isKept = false
    return this.#journal
  }
}

const GROUP_MS = 20

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
