// Stops a listener whose event loop then stands still, and prints what a client gets that sent its request meanwhile.
import { once } from 'node:events'
import { connect } from 'node:net'
import { HeaderFields } from '../../src/http/call.ts'
import { loadRuntime } from '../../src/runtime/runtime.ts'

const STALL_MS = 300
const DRAIN_MS = 60_000
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

const answer = { status: 204, fields: new HeaderFields({}), etag: '', body: null }
const { listen } = await loadRuntime()
const listener = await listen({ host: '127.0.0.1', port: 0, idleMs: DRAIN_MS, answer: () => answer })
const client = connect(listener.port, '127.0.0.1')
client.write(REQUEST)
await once(client, 'data')
let got = ''
client.on('data', (data) => (got += String(data)))
client.on('error', (cause) => (got ||= cause.message))
const closed = once(client, 'close')
const stopped = listener.stop(DRAIN_MS)
client.write(REQUEST)
for (const untilMs = performance.now() + STALL_MS; performance.now() < untilMs;);
await closed.catch(() => {})
console.log(got.split('\r\n', 1)[0])
await stopped
