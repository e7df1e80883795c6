// Calls receivers after a change. In: the feed of changes, and the webhooks of the configuration. Out: signed calls, at
// least one for each change, never more often than configured (docs/webhooks.md). No request waits for any of this.

import { randomBytes } from 'node:crypto'
import type { WebhookSettings } from '../config/configuration.ts'
import type { ProxiedHttpClient } from '../crm/web/http-client.ts'
import { bugPlace } from '../domain/printable.ts'
import type { Outcome } from '../observe/observation.ts'
import type { Time } from '../time/time.ts'
import { keyOfWebhook, messageOf, nameOfWebhook, send } from './message.ts'
import { type WebhookOptions, type WebhookStatus, Webhook } from './webhook.ts'

const LOOK_EVERY_MS = 1000

/** The outcomes of a call. Each is counted from the start, because an alert on a rise needs the 0 before it. */
const CALL_OUTCOMES = [
  'ok',
  'refused',
  'throttled',
  'timeout',
  'unreachable',
  'misconfigured',
  'broken',
  'too-large',
] as const satisfies readonly Outcome[]

export interface WebhooksOptions extends WebhookOptions {
  /** Whether this instance calls: it serves both lists, and no other instance leads. */
  readonly mayCall: () => boolean
}

/** All webhooks of this instance. A receiver that fails does not hold up the others. */
export class Webhooks {
  readonly #options: WebhooksOptions
  #webhooks: readonly Webhook[] = []
  #cancel: () => void = () => {}

  constructor(options: WebhooksOptions, settings: readonly WebhookSettings[]) {
    this.#options = options
    this.adopt(settings)
  }

  /** Takes the webhooks of a reload; those that stay keep what they know. */
  adopt(settings: readonly WebhookSettings[]): void {
    const before = new Map(this.#webhooks.map((webhook) => [webhook.key, webhook]))
    this.#webhooks = settings.map((one, index) => {
      const webhook = before.get(keyOfWebhook(one)) ?? new Webhook(this.#options, one, index)
      before.delete(webhook.key)
      webhook.adopt(one, index)
      return webhook
    })
    for (const webhook of before.values()) webhook.end()
  }

  start(): null {
    this.#cancel = this.#options.time.after(LOOK_EVERY_MS, () => {
      if (this.#webhooks.length > 0 && this.#options.mayCall())
        for (const webhook of this.#webhooks) this.#look(webhook)
      this.start()
    })
    return null
  }

  #look(webhook: Webhook): void {
    const failed = (cause: unknown): void => this.#options.observe({ kind: 'internal-error', message: bugPlace(cause) })
    webhook.look().catch(failed)
  }

  stop(): void {
    this.#cancel()
    for (const webhook of this.#webhooks) webhook.end()
    this.#options.web.close()
  }

  status(): readonly WebhookStatus[] {
    return this.#webhooks.map((webhook) => webhook.status())
  }

  /** The number of calls since the start. */
  calls(): readonly { readonly webhook: string; readonly outcome: string; readonly count: number }[] {
    return this.#webhooks.flatMap(({ name, calls }) =>
      CALL_OUTCOMES.map((outcome) => ({ webhook: name, outcome, count: calls.get(outcome) ?? 0 })),
    )
  }
}

/** Whether a receiver took a test call, in a sentence. */
export interface TriedWebhook {
  readonly ok: boolean
  readonly sentence: string
}

/** Sends one test message to each receiver of the configuration. */
export async function tryWebhooks(
  web: ProxiedHttpClient,
  settings: readonly WebhookSettings[],
  time: Time,
): Promise<readonly TriedWebhook[]> {
  const results = settings.map(async (one, index) => {
    const id = `test_${randomBytes(9).toString('base64url')}`
    const message = messageOf(id, 'test', '{}', one.body, time)
    const { failure } = await send(web, one, message, time, new AbortController().signal)
    const name = nameOfWebhook(one, index)
    return {
      ok: failure === null,
      sentence: failure === null ? `${name} took a test call.` : `${name}: ${failure.message}`,
    }
  })
  return Promise.all(results)
}
