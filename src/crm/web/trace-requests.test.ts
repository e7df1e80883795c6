import { describe, expect, it } from 'bun:test'
import { Buffer } from 'node:buffer'
import { Secret } from '../../domain/secret.ts'
import type { HttpReply } from './http-client.ts'
import { secretsIn, tracedClient } from './trace-requests.ts'

const SECRET = 'c2VjcmV0/of+the=crm'

/** Traces one request that is answered with a body, and returns the printed lines. */
async function traced(body: string, secrets: () => Iterable<string> = () => [SECRET]): Promise<string> {
  const reply: HttpReply = { status: 200, headers: {}, body: Buffer.from(body) }
  const lines: string[] = []
  const open = tracedClient(
    () => ({ send: async () => reply, close: () => {} }),
    secrets,
    (line) => lines.push(line),
  )
  const web = open({ ca: [], proxyOf: () => null })
  await web.send({
    method: 'POST',
    url: `https://crm.example/events?key=${encodeURIComponent(SECRET)}`,
    headers: {},
    body: new URLSearchParams({ key: SECRET }).toString(),
    signal: new AbortController().signal,
    fresh: false,
    mostBytes: 1_000_000,
  })
  return lines.join('\n')
}

describe('traced requests', () => {
  it('show no secret in a URL, a form, or an answer whose slashes are escaped', async () => {
    const text = await traced(JSON.stringify({ echoed: SECRET }).replaceAll('/', '\\/'))
    expect(text).toBe('> POST https://crm.example/events?key=[secret] key=[secret]\n< 200  {"echoed":"[secret]"}')
  })

  it('show no beginning of a secret that stands across the end of what is shown', async () => {
    for (let before = 2020; before <= 2052; before++) {
      const answer = (await traced(`${'.'.repeat(before)}${SECRET} and more`)).split('\n< ')[1] ?? ''
      expect([before, answer.includes(SECRET.slice(0, 2))]).toEqual([before, false])
    }
  })

  it.each([
    ['{"Authorization": "Basic bWU6c2VjcmV0"}', '{"Authorization": "Basic [secret]"}'],
    [
      String.raw`{"text":"{\"authorization\":\"Bearer a.b-c~d==\"}"}`,
      String.raw`{"text":"{\"authorization\":\"Bearer [secret]\"}"}`,
    ],
    ['<Authorization>basic bWU6c2VjcmV0</Authorization>', '<Authorization>basic [secret]</Authorization>'],
    ['AUTHORIZATION: Bearer abc\nHost: crm', String.raw`AUTHORIZATION: Bearer [secret]\u000aHost: crm`],
    ['{"Name": "Authorization: basic"}', '{"Name": "Authorization: basic"}'],
  ])('show no credentials in an answer that repeats its request: %s', async (body, shown) => {
    expect((await traced(body)).split('\n< ')[1]).toBe(`200  ${shown}`)
  })

  it('show neither a secret that was read again nor the one before', async () => {
    const secret = new Secret(SECRET, { name: 'the file key', reread: async () => ({ ok: true, text: 'new-secret' }) })
    await secret.refresh()
    const answer = (await traced(`${SECRET} new-secret`, () => secretsIn({ crm: { key: secret } }))).split('\n')[1]
    expect(answer).toBe('< 200  [secret] [secret]')
  })
})
