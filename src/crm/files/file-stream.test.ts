import { expect, it } from 'bun:test'
import type { VenueRecord } from '../../domain/venue.ts'
import { openZone } from '../../domain/zone.ts'
import type { Time } from '../../time/time.ts'
import { yieldToEventLoop } from '../../time/waiting.ts'
import { listSource } from '../connector/connector-crm.ts'
import { VENUE_ROWS } from '../mapping/map-row.ts'
import { Suspicions } from '../mapping/suspicions.ts'
import { type FilePlace, type FileVersion, type OpenVersion, FileStream } from './file-stream.ts'
import { listFile } from './list-file.ts'
import { inMemory } from './local-file.ts'

const zone = openZone('UTC')
if (zone === null) throw new Error('the runtime has no zones')
const showIn = zone
const BYTES = Buffer.from('[{"Id":"5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34","Name":"Guildhall"}]')
const FOUND = {
  name: 'venues.json',
  format: 'json',
  inode: '1',
  sizeBytes: BYTES.length,
  writtenAtMs: 0,
  updatedAtMs: 0,
} as const
const TIMEOUT_MS = 1000
const PATIENCE_MS = 2100
const never = (): Promise<never> => new Promise(() => {})

/** Time that passes as soon as nothing but a timer is left to wait for. */
class HurriedTime implements Time {
  passedMs = 0
  random(): number {
    return 0
  }
  now(): ReturnType<Time['now']> {
    return { monotonicMs: this.passedMs, wallMs: this.passedMs }
  }
  after(ms: number, then: () => void): () => void {
    const timer = setTimeout(() => {
      this.passedMs += ms
      then()
    }, 0)
    return () => clearTimeout(timer)
  }
}

function opened(read: OpenVersion['file']['read'], close: () => void = () => {}, isSettled = true): OpenVersion {
  const there = { asOf: { monotonicMs: 0, wallMs: 0 }, isSettled }
  return { id: '1', found: FOUND, file: { read }, stillThere: () => Promise.resolve(there), close }
}

/** Returns how to read a list of one venue from a place: its rows, or why there are none. */
function readerOf(time: Time, open: FileVersion['open'], find?: FilePlace['find']): () => Promise<number | string> {
  const version = { id: '1', found: FOUND, begunAt: time.now(), isEnough: false, open }
  const place = {
    patienceMs: PATIENCE_MS,
    examine: never,
    find: find ?? ((): Promise<FileVersion> => Promise.resolve(version)),
  }
  const shared = { time, limits: () => ({ requestTimeoutMs: TIMEOUT_MS, maxAgeMs: 30_000 }), observe: () => {} }
  const plain = { block: null, texts: null }
  const list = listFile(VENUE_ROWS.table, { events: plain, venues: plain }, { further: [], htmlText: undefined })
  const stream = new FileStream<VenueRecord>({ ...shared, list, place, isClosed: () => false })
  const from = { events: 'events', venues: 'venues' }
  const parts = { idNamespace: null, zone: showIn, showIn, from, further: [], suspicions: new Suspicions() }
  const source = listSource({ ...shared, kind: VENUE_ROWS, stream, parts, readsTickets: false })
  const held = { size: 0, version: () => Number.NaN }
  return async () => {
    const reading = source.read({ kind: 'full', cursor: null, held, signal: new AbortController().signal })
    let rows = 0
    for (;;) {
      const next = await reading.next()
      if (next.done !== true) rows += next.value.changes.length
      else return next.value.ok ? rows : `${next.value.failure.kind}: ${next.value.failure.message}`
    }
  }
}

function readFrom(...place: Parameters<typeof readerOf>): Promise<number | string> {
  return readerOf(...place)()
}

const SILENT = 'timeout: no response within 2.1 s'

it('gives up a share that does not even say whether there is a file', async () => {
  expect(await readFrom(new HurriedTime(), never, never)).toBe(SILENT)
})

it('gives up a file that opens, but gives no bytes, and closes it once it answers', async () => {
  const answer = Promise.withResolvers<{ bytesRead: number; buffer: Buffer }>()
  let closed = 0
  const file = opened(
    () => answer.promise,
    () => closed++,
  )
  expect(await readFrom(new HurriedTime(), async () => file)).toBe(SILENT)
  expect(closed).toBe(0)
  answer.resolve({ bytesRead: 0, buffer: BYTES })
  await yieldToEventLoop()
  expect(closed).toBe(1)
})

it('goes on with a slow file for as long as some of it comes', async () => {
  const time = new HurriedTime()
  const rows = await readFrom(time, async (onProgress) => {
    for (let part = 0; part < 10; part++) {
      const dueMs = time.passedMs + TIMEOUT_MS
      while (time.passedMs < dueMs) await new Promise((resolve) => setTimeout(resolve, 0))
      onProgress()
    }
    return opened(inMemory(BYTES).read)
  })
  expect(rows).toBe(1)
  expect(time.passedMs).toBeGreaterThan(PATIENCE_MS * 3)
})

it.each([
  [false, 1],
  [true, 'broken: venues.json, line 1: expected a quote that closes the text, found the end'],
])('reads a broken file again unless its time tells its changes apart: %p', async (isSettled, then) => {
  let bytes = BYTES.subarray(0, 40)
  const read = readerOf(new HurriedTime(), async () => opened(inMemory(bytes).read, () => {}, isSettled))
  expect(await read()).toStartWith('broken: ')
  bytes = BYTES
  expect(await read()).toBe(then)
})
