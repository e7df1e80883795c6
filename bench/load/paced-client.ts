/**
 * A program: `PORT IDS_FILE RATE SECONDS`. After a warm-up of two seconds, it sends RATE requests a second at regular
 * intervals over 64 keep-alive connections and prints the result as a line of JSON. A request that finds no free
 * connection waits, and its latency counts from when it was due, so that a stalled server does not hide its latency
 * (coordinated omission). On SIGTERM it ends early and prints its result.
 */
import type { Buffer } from 'node:buffer'
import { percentile } from '../report/statistics.ts'
import { CONNECTIONS } from './callers.ts'
import type { Paced } from './paced-load.ts'
import { RandomRequests } from './random-requests.ts'
import { ResponseReader } from './response-reader.ts'

/** The warm-up, in which runtimes compile. It runs the same code: another branch would have to be compiled later. */
const WARM_UP_S = 2
/** How long late answers are awaited at the end, in ms. */
const PATIENCE_MS = 15_000

interface Connection {
  readonly reader: ResponseReader
  /** The index of the request in progress; -1 for none. */
  request: number
  isUnknown: boolean
}

const [port = '', idsFile = '', rate = '', seconds = ''] = process.argv.slice(2)
const everyMs = 1000 / Number(rate)
const firstCounted = Math.round(Number(rate) * WARM_UP_S)
let total = firstCounted + Math.round(Number(rate) * Number(seconds))

const requests = new RandomRequests(idsFile)
/** The latency of each request, in ms. */
const latencies = new Float64Array(total)
/** For each second, the longest time in ms in which this program did not run. */
const late = new Float64Array(WARM_UP_S + Number(seconds) + PATIENCE_MS / 1000 + 1)
let [sent, ended, errors, lookedMs] = [0, 0, 0, 0]

const connections: Connection[] = []
const free: Bun.Socket<Connection>[] = []
await Promise.all(Array.from({ length: CONNECTIONS }, connect))
process.once('SIGTERM', () => (total = sent))
const startedMs = performance.now()
look()

/** Sends all due requests for which there is a free connection. */
function send(nowMs: number): void {
  while (sent < total && sent * everyMs <= nowMs) {
    const socket = free.pop()
    if (socket === undefined) return
    const request = requests.next()
    socket.data.request = sent++
    socket.data.isUnknown = requests.isUnknown
    if (socket.write(request) !== request.length) throw new Error('a request did not fit into the connection')
  }
}

/** Polls without a pause: a timer could be late by a millisecond. */
function look(): void {
  const nowMs = performance.now() - startedMs
  const second = Math.floor(nowMs / 1000)
  late[second] = Math.max(late[second] ?? 0, nowMs - lookedMs)
  lookedMs = nowMs
  send(nowMs)
  if (ended < total && nowMs < total * everyMs + PATIENCE_MS) setImmediate(look)
  else finish(nowMs)
}

function connect(): Promise<unknown> {
  return Bun.connect<Connection>({
    hostname: '127.0.0.1',
    port: Number(port),
    socket: {
      open(socket) {
        socket.data = { reader: new ResponseReader(), request: -1, isUnknown: false }
        connections.push(socket.data)
        free.push(socket)
      },
      data(socket, chunk: Buffer) {
        if (!socket.data.reader.take(chunk)) return
        const nowMs = performance.now() - startedMs
        settle(socket.data, nowMs, socket.data.reader.status === (socket.data.isUnknown ? 404 : 200))
        free.push(socket)
        send(nowMs)
      },
      close(socket) {
        const index = free.indexOf(socket)
        if (index !== -1) free.splice(index, 1)
        if (socket.data.request !== -1) settle(socket.data, performance.now() - startedMs, false)
        connect().catch(() => {})
      },
    },
  })
}

function settle(connection: Connection, nowMs: number, isRight: boolean): void {
  latencies[connection.request] = nowMs - connection.request * everyMs
  connection.request = -1
  ended++
  if (!isRight) errors++
}

function finish(nowMs: number): void {
  // Requests without a response took at least until now.
  errors += total - ended
  for (const connection of connections) if (connection.request !== -1) settle(connection, nowMs, true)
  for (let index = sent; index < total; index++) latencies[index] = nowMs - index * everyMs
  const sorted = latencies.subarray(firstCounted, total).toSorted()
  const result: Paced = {
    requests: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    p999Ms: percentile(sorted, 0.999),
    worstMs: percentile(sorted, 1),
    errors,
    clientLateMs: Math.max(...late.subarray(WARM_UP_S)),
  }
  console.log(JSON.stringify(result))
  process.exit(0)
}
