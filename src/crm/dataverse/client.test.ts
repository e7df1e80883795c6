import { expect, it } from 'bun:test'
import { IN_THE_FILE, Secret } from '../../domain/secret.ts'
import { systemTime } from '../../time/time.ts'
import type { HttpClient, HttpReply } from '../web/http-client.ts'
import { DataverseClient } from './client.ts'
import { DirectoryTokens } from './directory-tokens.ts'

const origin = 'https://crm.example'

function reply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  const type = { 'content-type': 'application/json' }
  return { status, headers: { ...type, ...headers }, body: new TextEncoder().encode(JSON.stringify(body)) }
}

it('a request whose connection is lost is not repeated during a pause that another one was asked for', async () => {
  const sent: string[] = []
  const lost = Promise.withResolvers<HttpReply>()
  const web: HttpClient = {
    send({ url, method }) {
      if (method === 'POST') return Promise.resolve(reply(200, { access_token: 'a', token_type: 'Bearer' }))
      sent.push(url)
      return url.endsWith('events') ? lost.promise : Promise.resolve(reply(429, {}, { 'retry-after': '60' }))
    },
    close: () => {},
  }
  const settings = { web, time: systemTime, limits: { requestTimeoutMs: 30_000 }, clientId: 'client' }
  const tokens = new DirectoryTokens({
    ...settings,
    authority: origin,
    tenant: 'tenant',
    clientSecret: new Secret('secret', IN_THE_FILE),
    scope: `${origin}/.default`,
  })
  const client = new DataverseClient({ ...settings, tokens, origin, onRequest: () => {} })
  const { signal } = new AbortController()
  const events = client.get(client.urlOf('events'), [], signal)
  expect(await client.get(client.urlOf('venues'), [], signal)).toMatchObject({ status: 429 })
  lost.reject(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
  const message = 'Dataverse asked for a pause; Marquee sends no requests until it is over'
  expect(await events).toMatchObject({ failure: { kind: 'throttled', message } })
  expect(sent).toEqual([client.urlOf('events'), client.urlOf('venues')])
})
