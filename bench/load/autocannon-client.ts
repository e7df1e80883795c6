/**
 * A program: `IDS_FILE POPULARITY`. For each line `{"port": …, "seconds": …}` on standard input, it requests random
 * events as fast as possible and prints the result as a line of JSON. It ends with its input.
 */
import { createInterface } from 'node:readline'
import autocannon from 'autocannon'
import { CONNECTIONS, HOST } from './callers.ts'
import type { Load } from './callers.ts'
import { RandomRequests } from './random-requests.ts'

const REQUESTS_A_CONNECTION = 64

interface Command {
  readonly port: number
  /** The duration; may be a fraction. */
  readonly seconds: number
}

const [idsFile = '', popularity = ''] = process.argv.slice(2)
const random = new RandomRequests(idsFile, popularity === 'zipf' ? 'zipf' : 'even')
const requests = Array.from({ length: CONNECTIONS }, () => Array.from({ length: REQUESTS_A_CONNECTION }, request))

for await (const line of createInterface(process.stdin)) {
  console.log(JSON.stringify(await load(JSON.parse(line) as Command)))
}

function request(): autocannon.Request {
  const [, path = '', accept = ''] =
    /^GET (\S+) [^]*\r\nAccept: ([^\r]*)\r\n/.exec(random.next().toString('latin1')) ?? []
  return { method: 'GET', path, headers: { accept, host: HOST } }
}

async function load({ port, seconds }: Command): Promise<Load> {
  let connection = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    duration: seconds,
    // The interval in ms at which it checks whether the time is over.
    sampleInt: 20,
    setupClient: (client) => client.setRequests(requests[connection++] ?? []),
  })
  const { latency } = result
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    p999Ms: latency.p99_9,
    refused: result['4xx'] + result['5xx'],
    errors: result.errors,
  }
}
