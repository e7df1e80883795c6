import type { ChangeFeed } from '../changes/change-feed.ts'
import type { ChangePage } from '../changes/change-journal.ts'
import type { WebhookSettings } from '../config/configuration.ts'
import type { ProxiedHttpClient } from '../crm/web/http-client.ts'
import { howMany } from '../domain/printable.ts'
import type { Formatter } from '../formats/format.ts'
import type { Observe, Outcome } from '../observe/observation.ts'
import { type Moment, type Time, elapsedMs } from '../time/time.ts'
import { inSlices } from '../time/waiting.ts'
import { type Message, shortDigest, keyOfWebhook, messageOf, nameOfWebhook, send } from './message.ts'

export interface WebhookOptions {
  readonly feed: ChangeFeed
  readonly formatter: Pick<Formatter, 'changes'>
  readonly web: ProxiedHttpClient
  readonly time: Time
  readonly observe: Observe
}

/** One webhook in `/status`. */
export interface WebhookStatus {
  readonly webhook: string
  /** When the receiver last took a call, ISO 8601; `null` if it has not since the start. */
  readonly calledAt: string | null
  /** When the first of the failed calls in a row was; `null` if the last call succeeded. */
  readonly failingSince: string | null
  readonly lastError: string | null
  /** Whether the receiver answered 410 and is not called any more. */
  readonly isGone: boolean
}

/** What to tell, and the position that the receiver knows then. */
interface Due {
  readonly message: Message
  readonly position: string
}

interface Failing {
  readonly since: Moment
  times: number
  message: string
  /** Whether the log has said that it lasted a day. */
  isSaid: boolean
}

const FIRST_RETRY_MS = 10_000
const LONGEST_RETRY_MS = 3_600_000
const SAY_AFTER_MS = 24 * 3_600_000

/** Calls one receiver. Changes that the receiver did not accept are sent again, together with newer ones. */
export class Webhook {
  readonly key: string
  /** How many calls had which outcome. */
  readonly calls: Map<Outcome, number> = new Map()
  readonly #options: WebhookOptions
  readonly #ended = new AbortController()
  #settings: WebhookSettings
  #name: string
  #isBusy = false
  #restsUntilMs = -Infinity
  #failing: Failing | null = null
  #isGone = false
  #calledAtMs: number | null = null

  constructor(options: WebhookOptions, settings: WebhookSettings, index: number) {
    this.#options = options
    this.#settings = settings
    this.#name = nameOfWebhook(settings, index)
    this.key = keyOfWebhook(settings)
  }

  get name(): string {
    return this.#name
  }

  /** Takes the settings of a reload. A receiver that failed is called at once: its secret may be right now. */
  adopt(settings: WebhookSettings, index: number): void {
    this.#settings = settings
    this.#name = nameOfWebhook(settings, index)
    if (this.#failing !== null || this.#isGone) this.#restsUntilMs = -Infinity
    this.#isGone = false
  }

  /** Calls the receiver if something has changed that it does not know, and if its last call was long enough ago. */
  async look(): Promise<void> {
    if (this.#isBusy || this.#isGone || this.#options.time.now().monotonicMs < this.#restsUntilMs) return
    this.#isBusy = true
    try {
      const due = await this.#due()
      if (due !== null && !this.#ended.signal.aborted) await this.#call(due)
    } finally {
      this.#isBusy = false
    }
  }

  end(): void {
    this.#ended.abort()
  }

  status(): WebhookStatus {
    const failing = this.#failing
    return {
      webhook: this.#name,
      calledAt: this.#calledAtMs === null ? null : isoOf(this.#calledAtMs),
      failingSince: failing === null ? null : isoOf(failing.since.wallMs),
      lastError: failing?.message ?? null,
      isGone: this.#isGone,
    }
  }

  /** Finds the first page with a change that concerns this webhook. */
  async #due(): Promise<Due | null> {
    const { feed } = this.#options
    const { on } = this.#settings
    const told = feed.toldTo(this.key)
    let page = told === null ? null : feed.since(told)
    const rest = inSlices()
    while (page !== null) {
      const changes = page.changes.filter(({ list }) => on.includes(list))
      // The receiver asks for what does not fit on a page, so from here on it knows all.
      if (changes.length > 0) return this.#dueOf('changes', { ...page, changes }, page.more ? feed.now : page.next)
      feed.tell(this.key, page.next)
      if (!page.more) return null
      await rest()
      page = feed.since(page.next)
    }
    const { now } = feed
    return this.#dueOf('reset', { changes: [], next: now, more: false }, now)
  }

  #dueOf(type: 'changes' | 'reset', page: ChangePage, position: string): Due {
    const { formatter, time } = this.#options
    const data = formatter.changes({ ...page, next: `~/changes?since=${page.next}` }, false)
    const id = `msg_${shortDigest(`${this.key} ${position}`)}`
    return { message: messageOf(id, type, data, this.#settings.body, time), position }
  }

  async #call({ message, position }: Due): Promise<void> {
    const { feed, web, time } = this.#options
    const settings = this.#settings
    const begunAt = time.now()
    const { failure, isGone } = await send(web, settings, message, time, this.#ended.signal)
    if (this.#ended.signal.aborted) return
    const outcome = failure?.kind ?? 'ok'
    this.calls.set(outcome, (this.calls.get(outcome) ?? 0) + 1)
    if (failure !== null) return this.#failed(begunAt, failure.message, failure.retryAfterMs ?? 0, isGone)
    feed.tell(this.key, position)
    this.#calledAtMs = begunAt.wallMs
    this.#restsUntilMs = begunAt.monotonicMs + settings.everyMs
    if (this.#failing !== null) this.#say('recovered', `after ${howMany(this.#failing.times, 'failed call')}`)
    this.#failing = null
  }

  #failed(at: Moment, message: string, retryAfterMs: number, isGone: boolean): void {
    const { time } = this.#options
    const failing: Failing = this.#failing ?? { since: at, times: 0, message, isSaid: false }
    this.#failing = failing
    failing.times++
    failing.message = message
    this.#isGone = isGone
    const usualMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failing.times - 1))
    const pauseMs = Math.max(retryAfterMs, usualMs * (0.9 + 0.2 * time.random()))
    this.#restsUntilMs = time.now().monotonicMs + pauseMs
    if (isGone) this.#say('gone', message)
    else if (failing.times === 1) this.#say('failing', message)
    else if (!failing.isSaid && elapsedMs(failing.since, at) >= SAY_AFTER_MS) {
      failing.isSaid = true
      this.#say('failed-for-a-day', message)
    }
  }

  #say(what: 'failing' | 'failed-for-a-day' | 'gone' | 'recovered', detail: string): void {
    this.#options.observe({ kind: 'webhook-changed', webhook: this.#name, what, detail })
  }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
