import { Buffer } from 'node:buffer'
import { type Body, etagOf } from '../formats/body.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import { recordsOf } from '../formats/page-frame.ts'
import { type ListIndex, indexOf } from '../order/list-index.ts'
import { scan } from '../order/list-scan.ts'
import type { RecordList } from '../records/record-list.ts'
import { writePosition } from './list-position.ts'
import { type ListQuery, queryWithAfter } from './list-query.ts'
import { type ReadyPage, ReadyPages } from './ready-pages.ts'

/** A page ends where its records reach this, however many were asked for: to join more would hold others up. */
const LARGEST_PAGE_BYTES = 2 * 1024 * 1024

/** The pages of one list, joined from the bytes of its records (contract §4.2). */
export class ListPages<Item> {
  readonly list: RecordList<Item>
  readonly #formatter: Formatter
  readonly #ready: ReadyPages
  #joined: Buffer = Buffer.alloc(0)

  constructor(list: RecordList<Item>, formatter: Formatter) {
    this.list = list
    this.#formatter = formatter
    this.#ready = new ReadyPages(list.ready.makeRoomForPages())
  }

  /** The page as of `nowMs`, epoch ms; null while nothing is known. */
  page(query: ListQuery, shape: Shape, nowMs: number): ReadyPage | null {
    const { changes } = this.list
    const index = indexOf(this.list)
    if (index === null || !index.isWhole) return null
    const key = `${shape}?${hrefOf('', query.named, query.afterGiven)}`
    const ready = this.#ready.read(key, changes, nowMs)
    if (ready !== null) return ready
    const page = this.#make(index, query, shape, nowMs)
    this.#ready.keep(key, page)
    return page
  }

  #make(index: ListIndex, query: ListQuery, shape: Shape, nowMs: number): ReadyPage {
    const { name } = this.list.kind
    const { rows, hasMore, goodUntilMs } = scan(index, { ...query, from: query.from ?? { ms: nowMs, ticks: 0 } })
    const { count, bytes } = this.#join(index, rows, shape)
    const last = rows[count - 1]
    const after =
      last === undefined || (!hasMore && count === rows.length) ? null : writePosition(name, index.positionOf(last))
    const path = `~/${name}`
    const next = after === null ? null : hrefOf(path, query.named, after)
    const self = hrefOf(path, query.named, query.afterGiven)
    const frame = this.#formatter.frame({ list: name, self, next, isEmpty: count === 0 }, shape)
    const body = Buffer.concat([Buffer.from(frame.before), this.#joined.subarray(0, bytes), Buffer.from(frame.after)])
    return {
      body,
      etag: etagOf(body),
      next: next === null ? null : this.#formatter.pathOf(next),
      changes: this.list.changes,
      goodFromMs: query.from === null ? nowMs : -Infinity,
      goodUntilMs: query.from === null ? goodUntilMs : Infinity,
    }
  }

  /** Joins the bodies of rows, as many as a page may have; how many, and how long they are. */
  #join(index: ListIndex, rows: readonly number[], shape: Shape): { count: number; bytes: number } {
    const { between, skip } = recordsOf(shape)
    let bytes = 0
    let count = 0
    for (const handle of rows) {
      if (bytes > LARGEST_PAGE_BYTES) break
      const [shard, slot] = index.rowOf(handle)
      const body = this.list.bodyAt(shard, slot, shape)
      if (body === null) throw new Error('a listed row is not served')
      // Copied at once: what the next one needs may be written over it.
      this.#reserve(bytes + between.length + body.length)
      if (count > 0) bytes += this.#joined.write(between, bytes, 'latin1')
      bytes += copyBody(body, skip, this.#joined, bytes)
      count++
    }
    return { count, bytes }
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#joined.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(64 * 1024, bytes * 2))
    this.#joined.copy(larger)
    this.#joined = larger
  }
}

/** Copies a body less its first bytes, and returns how many those are. */
function copyBody(body: Body, skip: number, into: Buffer, at: number): number {
  if (typeof body === 'string') return into.write(skip === 0 ? body : body.slice(skip), at, 'latin1')
  into.set(skip === 0 ? body : body.subarray(skip), at)
  return body.length - skip
}

function hrefOf(path: string, named: string, after: string | null): string {
  const query = queryWithAfter(named, after)
  return query === '' ? path : `${path}?${query}`
}
