import type { CrmFailure } from '../../replica/port.ts'
import type { Moment, Time } from '../../replica/time.ts'
import type { Web, WebReply, WebRequest } from './web.ts'
import { networkFailure } from './network-failure.ts'

export interface Answered {
  readonly reply: WebReply
  /** When the request that was answered began. */
  readonly begunAt: Moment
}

export type AskOptions = Pick<WebRequest, 'method' | 'url' | 'headers' | 'body' | 'mostBytes'> & {
  readonly signal: AbortSignal
  /** For each of the two attempts, body included. */
  readonly timeoutMs: number
  readonly time: Time
}

/**
 * Asks, and once more on a fresh connection where no answer came: a connection that the other side dropped without a
 * word must not cost an outage. The request must be safe to repeat.
 */
export async function ask(web: Web, options: AskOptions): Promise<Answered | CrmFailure> {
  const first = await askOnce(web, options, false)
  if ('reply' in first || first.isCertain || options.signal.aborted) return first
  return askOnce(web, options, true)
}

async function askOnce(
  web: Web,
  { timeoutMs, time, signal, ...request }: AskOptions,
  fresh: boolean,
): Promise<Answered | (CrmFailure & { readonly isCertain: boolean })> {
  const begunAt = time.now()
  const controller = new AbortController()
  // The limit holds whether or not the runtime heeds the signal: an exchange that never settled would block all others.
  const { promise: givenUp, reject } = Promise.withResolvers<never>()
  let isLate = false
  const abort = (): void => {
    controller.abort()
    reject(new Error('given up'))
  }
  const cancel = time.after(timeoutMs, () => {
    isLate = true
    abort()
  })
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    const reply = await Promise.race([web.send({ ...request, fresh, signal: controller.signal }), givenUp])
    return { reply, begunAt }
  } catch (cause) {
    const host = new URL(request.url).host
    return networkFailure(cause, host, isLate ? timeoutMs : null)
  } finally {
    cancel()
    signal.removeEventListener('abort', abort)
  }
}
