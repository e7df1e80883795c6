import { expect, it } from 'bun:test'
import { HeaderFields } from '../../src/http/call.ts'
import { listen } from '../../src/runtime/bun.ts'
import { exchange } from '../support/raw-client.ts'
import { parseReply } from '../support/reply.ts'
import { requestText } from './over-http.ts'

// Bun checks for idle connections every 4 s, by a clock that cannot be passed in.
const LONGER_THAN_BUN_LETS_IDLE_MS = 5000

it('a request that waits longer than limits.idle gets its answer on Bun too', async () => {
  const late = { status: 200, fields: new HeaderFields({}), etag: '', body: 'late' }
  const answer = (): Promise<typeof late> =>
    new Promise((resolve) => setTimeout(() => resolve(late), LONGER_THAN_BUN_LETS_IDLE_MS))
  const listener = await listen({ host: '127.0.0.1', port: 0, idleMs: 1000, answer })
  const reply = parseReply(await exchange(listener.port, requestText('/')))
  await listener.stop(0)
  expect(reply.body).toBe('late')
})
