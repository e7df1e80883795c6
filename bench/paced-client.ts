/**
 * A program: `PORT IDS_FILE RATE SECONDS warmUpSecondsECONDS`. After the warm-up, it sends RATE requests a second at regular
 * intervals over 64 keep-alive connections and prints the result as a line of JSON. A request that finds no free
 * connection waits, and its latency counts from when it was due, so that a stalled server does not hide its latency
 * (coordinated omission). On SIGTERM it ends early and prints its result.
 */
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { Chance } from '../test/model/chance.ts'
import { ACCEPTS, CONNECTIONS, HOST, type Paced, UNKNOWN_ENDING, UNKNOWN_SHARE } from './load.ts'
import { ResponseReader } from './response-reader.ts'

const HEAD = 'GET /api/events/'
const GUID_LENGTH = 36
/** The length of a line in the file of ids. */
const STRIDE = GUID_LENGTH + 1

/** How long late answers are awaited at the end, in ms. */
const PATIENCE_MS = 15_000

interface Connection {
  readonly reader: ResponseReader
  /** The index of the request in progress; -1 for none. */
  request: number
  isUnknown: boolean
}

const [port = '', idsFile = '', rate = '', seconds = '', warmUp = ''] = process.argv.slice(2)
/** In the warm-up runtimes compile. It runs the same code: another branch would have to be compiled later. */
const warmUpSeconds = Number(warmUp)
const everyMs = 1000 / Number(rate)
const firstCounted = Math.round(Number(rate) * warmUpSeconds)
let total = firstCounted + Math.round(Number(rate) * Number(seconds))

const ids = readFileSync(idsFile)
const chance = new Chance(7)
/** Requests are written into the same buffers, so nothing is allocated while sending. */
const templates = ACCEPTS.map((accept) =>
  Buffer.from(`${HEAD}${' '.repeat(GUID_LENGTH)} HTTP/1.1\r\nHost: ${HOST}\r\nAccept: ${accept}\r\n\r\n`),
)
/** The latency of each request, in ms. */
const latencies = new Float64Array(total)
/** For each second, the longest time in ms in which this program did not run. */
const late = new Float64Array(warmUpSeconds + Number(seconds) + PATIENCE_MS / 1000 + 1)
let sent = 0
let ended = 0
let errors = 0
let refused = 0
let lookedMs = 0

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
    const isUnknown = chance.happens(UNKNOWN_SHARE)
    const request = requestFor(chance.below(ids.length / STRIDE) * STRIDE, isUnknown)
    socket.data.request = sent++
    socket.data.isUnknown = isUnknown
    if (socket.write(request) !== request.length) throw new Error('a request did not fit into the connection')
  }
}

/** A request for the id at this place of the file, in a random format; valid until the next call. */
function requestFor(at: number, isUnknown: boolean): Buffer {
  const request = chance.pick(templates)
  ids.copy(request, HEAD.length, at, at + GUID_LENGTH)
  if (isUnknown) request.write(UNKNOWN_ENDING, HEAD.length + GUID_LENGTH - UNKNOWN_ENDING.length, 'latin1')
  return request
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
        const { status } = socket.data.reader
        if (status >= 400) refused++
        settle(socket.data, nowMs, status === (socket.data.isUnknown ? 404 : 200))
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
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
  const result: Paced = {
    requests: total,
    p50Ms: at(0.5),
    p999Ms: at(0.999),
    worstMs: at(1),
    errors,
    refused,
    clientLateMs: Math.max(...late.subarray(warmUpSeconds)),
  }
  console.log(JSON.stringify(result))
  process.exit(0)
}
