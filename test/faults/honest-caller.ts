import { type IncomingMessage, Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'

interface HonestCalls {
  readonly asked: number
  /** What was answered instead of 200. */
  readonly failures: readonly string[]
  readonly longestMs: number
}

const PATIENCE_MS = 15_000

/** Asks at a steady pace from an address of its own until `end`, whether or not earlier requests have been answered. */
export function askHonestly(
  origin: string,
  targetOf: (turn: number) => string,
  { everyMs, localAddress }: { readonly everyMs: number; readonly localAddress: string },
): { readonly asked: number; end(): Promise<HonestCalls> } {
  const isTls = origin.startsWith('https:')
  const settings = { keepAlive: true, localAddress }
  const https = new HttpsAgent({ ...settings, rejectUnauthorized: false })
  const http = new HttpAgent(settings)
  const failures: string[] = []
  const pending: Promise<void>[] = []
  let longestMs = 0
  const ask = async (target: string): Promise<void> => {
    const begunMs = performance.now()
    const { promise, resolve } = Promise.withResolvers<string>()
    const take = (response: IncomingMessage): void => {
      response.resume()
      response.on('end', () => resolve(String(response.statusCode)))
    }
    const asked = isTls
      ? requestHttps(origin + target, { agent: https }, take)
      : requestHttp(origin + target, { agent: http }, take)
    asked.setTimeout(PATIENCE_MS, () => asked.destroy(new Error('no answer')))
    asked.on('error', (cause) => resolve(cause.message))
    asked.end()
    const outcome = await promise
    longestMs = Math.max(longestMs, performance.now() - begunMs)
    if (outcome !== '200') failures.push(`${target}: ${outcome}`)
  }
  const timer = setInterval(() => pending.push(ask(targetOf(pending.length))), everyMs)
  return {
    get asked() {
      return pending.length
    },
    async end() {
      clearInterval(timer)
      await Promise.all(pending)
      http.destroy()
      https.destroy()
      return { asked: pending.length, failures, longestMs }
    },
  }
}
