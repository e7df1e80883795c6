import { describe, expect, it } from 'bun:test'
import { systemTime } from '../../time/time.ts'
import { ask } from './ask.ts'
import type { HttpClient } from './http-client.ts'

const options = {
  method: 'GET',
  url: 'https://crm.example/',
  headers: {},
  body: null,
  mostBytes: 1,
  timeoutMs: 20,
  time: systemTime,
} as const

describe('a question', () => {
  it('is given up after two time limits, also where the runtime never lets go of it', async () => {
    let sent = 0
    const web: HttpClient = { send: () => (sent++, new Promise(() => {})), close: () => {} }
    const answered = await ask(web, { ...options, signal: new AbortController().signal })
    expect(answered).toMatchObject({ kind: 'timeout', message: 'crm.example did not answer in full within 0.02 s' })
    expect(sent).toBe(2)
  })

  it('is given up at once with the read that asked it', async () => {
    const reading = new AbortController()
    const web: HttpClient = { send: () => new Promise(() => {}), close: () => {} }
    const answered = ask(web, { ...options, timeoutMs: 60_000, signal: reading.signal })
    reading.abort()
    expect(await answered).toMatchObject({ kind: 'unreachable' })
    expect(await ask(web, { ...options, signal: reading.signal })).toMatchObject({ kind: 'unreachable' })
  })
})
