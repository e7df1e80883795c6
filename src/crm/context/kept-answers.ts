import type { Time } from '../../time/time.ts'
import { type HttpReply, httpDateMs } from '../web/http-client.ts'

/** The limit of all kept answers together. Answers above it are requested in full each time. */
const MOST_BYTES = 16 * 1024 * 1024
/** An answer that was not requested again for this long is dropped. */
const FORGOTTEN_AFTER_MS = 3_600_000

interface Kept {
  readonly reply: HttpReply
  usedAtMs: number
}

/** Answers with a validator: the next request for the same asks only whether it has changed (RFC 9110 §13). */
export class KeptAnswers {
  readonly #time: Time
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  constructor(time: Time) {
    this.#time = time
  }

  /** The headers that make a request conditional; none if no answer to it is kept. */
  conditionsOf(request: string): Readonly<Record<string, string>> {
    const kept = this.#kept.get(request)
    if (kept === undefined) return {}
    // Some APIs answer `no-cache` in full, whatever the validator.
    return { ...conditionOf(kept.reply), 'cache-control': 'max-age=0' }
  }

  /** Returns the answer that counts: the kept one if the CRM says that it still does. */
  settle(request: string, reply: HttpReply): HttpReply {
    const kept = this.#kept.get(request)
    const nowMs = this.#time.now().monotonicMs
    if (reply.status === 304 && kept !== undefined) {
      kept.usedAtMs = nowMs
      // The kept `Age` is outdated, and the 304 may have none.
      const { age: _, ...headers } = kept.reply.headers
      return { ...kept.reply, headers: { ...headers, ...reply.headers } }
    }
    this.#forget(request)
    if (reply.status !== 200 || conditionOf(reply) === null) return reply
    if (this.#bytes + reply.body.length > MOST_BYTES) {
      for (const [old, { usedAtMs }] of this.#kept) if (usedAtMs < nowMs - FORGOTTEN_AFTER_MS) this.#forget(old)
      if (this.#bytes + reply.body.length > MOST_BYTES) return reply
    }
    this.#kept.set(request, { reply, usedAtMs: nowMs })
    this.#bytes += reply.body.length
    return reply
  }

  #forget(request: string): void {
    this.#bytes -= this.#kept.get(request)?.reply.body.length ?? 0
    this.#kept.delete(request)
  }
}

/** Returns the header that asks whether an answer has changed; `null` if the answer has no usable validator. */
function conditionOf({ headers }: HttpReply): Readonly<Record<string, string>> | null {
  const { etag, 'last-modified': modified = '', date = '' } = headers
  if (etag !== undefined) return { 'if-none-match': etag }
  // A time of the same second says nothing about a change later in that second.
  const ageMs = (httpDateMs(date) ?? 0) - (httpDateMs(modified) ?? Number.POSITIVE_INFINITY)
  return ageMs > 1000 ? { 'if-modified-since': modified } : null
}
