import { describe, expect, it } from 'bun:test'
import type { Time } from '../../time/time.ts'
import type { HttpReply } from '../web/http-client.ts'
import { Throttle, isThrottling } from './throttle.ts'

let nowMs = 0
const time: Time = { now: () => ({ monotonicMs: nowMs, wallMs: nowMs }), after: () => () => {}, random: () => 0.5 }
const never = new AbortController().signal

describe('the throttle', () => {
  /** Work that goes on until it is ended. */
  const work = (
    throttle: Throttle,
    signal = never,
  ): { readonly done: Promise<true | null>; readonly end: () => void } => {
    const { promise, resolve } = Promise.withResolvers<true>()
    return { done: throttle.run(signal, () => promise), end: () => resolve(true) }
  }

  it('lets so many in at once, and the next in the order they came', async () => {
    const throttle = new Throttle(time, 1)
    const first = work(throttle)
    const order: number[] = []
    const waiting = [1, 2].map((number) => throttle.run(never, async () => void order.push(number)))
    await Promise.resolve()
    expect(order).toEqual([])
    first.end()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2])
    expect(await throttle.run(never, async () => 3)).toBe(3)
  })

  it('lets the next in after work that failed', async () => {
    const throttle = new Throttle(time, 1)
    const failing = throttle.run(never, () => Promise.reject(new Error('failed')))
    const next = throttle.run(never, async () => 1)
    expect(await failing.catch(() => 'failed')).toBe('failed')
    expect(await next).toBe(1)
  })

  it('lets go of who gives up, and of nobody else', async () => {
    const throttle = new Throttle(time, 1)
    const first = work(throttle)
    const hasty = new AbortController()
    const given = work(throttle, hasty.signal)
    const patient = throttle.run(never, async () => 1)
    hasty.abort()
    expect(await given.done).toBeNull()
    first.end()
    expect(await patient).toBe(1)
    expect(await throttle.run(AbortSignal.abort(), async () => 1)).toBeNull()
  })

  it('is closed as long as the longer of two waits that were asked for', () => {
    nowMs = 0
    const throttle = new Throttle(time, 1)
    const asking = (status: number, seconds: number): HttpReply => ({
      status,
      headers: { 'retry-after': String(seconds) },
      body: new Uint8Array(),
    })
    throttle.pauseAfter(asking(429, 5))
    throttle.pauseAfter(asking(503, 1))
    expect(throttle.askedBy('crm.example')).toBe('crm.example asks for fewer requests (429)')
    const untilThen = 'crm.example asks for fewer requests (429) until 1970-01-01 00:00:05 UTC'
    expect(throttle.askedUntil('crm.example', throttle.closedForMs)).toBe(untilThen)
    nowMs = 4999
    expect(throttle.closedForMs).toBe(1)
    // A sentence that is read later is still true.
    expect(throttle.askedUntil('crm.example', throttle.closedForMs)).toBe(untilThen)
    nowMs = 5000
    expect(throttle.closedForMs).toBe(0)
  })
})

describe('an answer asks for fewer requests', () => {
  const replied = (status: number, body: string, headers: HttpReply['headers'] = {}): HttpReply => ({
    status,
    headers,
    body: new TextEncoder().encode(body),
  })
  const asked = (reply: HttpReply): string => {
    const throttle = new Throttle(time, 1)
    throttle.pauseAfter(reply)
    return throttle.askedBy('crm')
  }

  it('by its status, its fields, or the code of its error', () => {
    expect(isThrottling(replied(429, ''))).toBe(true)
    expect(isThrottling(replied(403, '', { 'retry-after': '1' }))).toBe(true)
    expect(isThrottling(replied(403, '[{"errorCode":"REQUEST_LIMIT_EXCEEDED"}]'))).toBe(true)
    for (const code of ['"0x80072321"', '"0x80072322"', '"-2147015898"', '-2147015902'])
      expect(isThrottling(replied(503, `{"error":{"code":${code},"message":""}}`))).toBe(true)
    expect(isThrottling(replied(403, '{"error":{"code":"0x80040220"}}'))).toBe(false)
    expect(isThrottling(replied(200, '{"code":"RESOURCE_EXHAUSTED"}'))).toBe(false)
    expect(isThrottling(replied(503, ''))).toBe(false)
  })

  it('and which limit of Dataverse is reached is said', () => {
    expect(asked(replied(429, '{"error":{"code":"0x80072321"}}'))).toBe('crm asks for less execution time (429)')
    expect(asked(replied(429, '{"error":{"code":"0x80072322"}}'))).toBe('crm asks for fewer requests (429)')
    expect(asked(replied(429, '{"error":{"code":"-2147015898"}}'))).toBe('crm asks for fewer requests at once (429)')
    expect(asked(replied(503, ''))).toBe('crm asks for a pause (503)')
  })
})
