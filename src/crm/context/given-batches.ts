// What a connector's methods yield, checked and cut into frames of bounded size.

import { nearestName } from '../../domain/nearest-name.ts'
import type { Cell } from '../cells/cell.ts'
import type { StreamBatch, StreamRow, Way } from '../connector/row-host.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { LONGEST_SENTENCE } from './given-settings.ts'
import { broken } from './json-answer.ts'

const FRAME_ROWS = 1000
const FRAME_BYTES = 1024 * 1024
/** A longer row is cut to this length, which is still too large to be served. */
const LONGEST_ROW = LARGEST_ROW_BYTES + 1
export const LONGEST_ID = 256

type Parts = Omit<StreamBatch, 'rows' | 'goesOn'> & { readonly rows: readonly unknown[] }

export function plainBatch(rows: readonly unknown[]): Parts {
  return { rows, deleted: [], total: null, lagMs: 0, full: false, stable: null }
}

export function givenBatch(batch: unknown, way: Way): Parts {
  if (Array.isArray(batch)) return plainBatch(batch)
  // They may be getters of a class.
  const members = typeof batch === 'object' && batch !== null ? batch : {}
  const [rows, deleted, total, lagMs, stable, unsure, blank, at, full] = BATCH_MEMBERS.map((name): unknown =>
    Reflect.get(members, name),
  )
  const gone = deleted ?? []
  if (!Array.isArray(rows) || !Array.isArray(gone))
    throw broken(`${way} yielded something that is neither a list of rows nor { rows }`)
  const misspelt = misspeltIn(members, BATCH_MEMBERS)
  if (misspelt !== null) throw broken(`${way} yielded ${misspelt}`)
  const count = numberIn(total, 'total', way)
  return {
    rows,
    deleted: gone.map((id) => deletedId(id, way)),
    total: count !== null && count >= 0 ? count : null,
    lagMs: Math.min(Math.max(numberIn(lagMs, 'lagMs', way) ?? 0, 0), 24 * 3_600_000),
    full: full === true,
    // Connectors for api 1 say true.
    stable: stable === 'moment' ? stable : stable === 'order' || stable === true ? 'order' : null,
    ...(typeof unsure === 'string' && unsure !== '' ? { unsure: unsure.slice(0, LONGEST_SENTENCE) } : {}),
    ...(Array.isArray(blank) ? { blank: blank.map(String) } : {}),
    ...(typeof at === 'function'
      ? { at: (index) => String(Reflect.apply(at, members, [index])).slice(0, LONGEST_PLACE) }
      : {}),
  }
}

/** `full` is of `http.pages` alone: the answer has as many rows as were requested. */
const BATCH_MEMBERS = ['rows', 'deleted', 'total', 'lagMs', 'stable', 'unsure', 'blank', 'at', 'full']
const LONGEST_PLACE = 200

/**
 * Finds a member whose name is almost that of a known one that is absent: it would be ignored. Other members may be the
 * connector's own, or those of an answer that it passes on.
 */
export function misspeltIn(object: object, known: readonly string[]): string | null {
  const absent = known.filter((name) => !(name in object))
  for (const name of Object.keys(object)) {
    const meant = known.includes(name) ? null : nearestName(name, absent)
    if (meant !== null) return `${name}; did you mean ${meant}?`
  }
  return null
}

function numberIn(value: unknown, name: 'total' | 'lagMs', way: Way): number | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const found = typeof value === 'number' ? String(value) : `a ${typeof value}`
  throw broken(`${way} yielded ${name} as ${found}; it must be a number, such as ${name}: 250`)
}

function deletedId(id: unknown, way: Way): string {
  if (typeof id === 'string' || typeof id === 'number') return String(id).slice(0, LONGEST_ID)
  throw broken(`${way} yielded a deleted id that is neither a text nor a number`)
}

export function idPair(pair: unknown): readonly Cell[] {
  if (!Array.isArray(pair) || pair.length !== 2) throw broken('ids yielded something that is not [id, updatedAt]')
  return pair.map((cell: unknown) => {
    if (typeof cell === 'string' || typeof cell === 'number') return cell
    if (cell === null || cell === undefined) return null
    throw broken('ids yielded something that is not [id, updatedAt], each a text or a number')
  })
}

export function* framesOf({ rows, deleted, at, ...about }: Parts, givesCells: boolean): Generator<StreamBatch, void> {
  let framed: StreamRow[] = []
  let first = 0
  let bytes = 0
  let left = deleted
  const frame = (goesOn: boolean): StreamBatch => {
    const from = first
    const places = at === undefined ? {} : { at: (index: number) => at(from + index) }
    const made = { ...about, ...places, rows: framed, deleted: left.slice(0, FRAME_ROWS), goesOn }
    first += framed.length
    framed = []
    bytes = 0
    left = left.slice(FRAME_ROWS)
    return made
  }
  for (const row of rows) {
    if (framed.length === FRAME_ROWS || bytes > FRAME_BYTES) yield frame(true)
    if (givesCells && isCells(row)) {
      framed.push(row)
      continue
    }
    const text = row instanceof Uint8Array ? bytesOf(row) : textOf(row)
    framed.push(text)
    bytes += text.length
  }
  while (left.length > FRAME_ROWS) yield frame(true)
  yield frame(false)
}

function isCells(row: unknown): row is Exclude<StreamRow, Buffer> {
  return typeof row === 'object' && row !== null && !(row instanceof Uint8Array)
}

/** A row of bytes. It may stay in memory with its batch only: a line break would end it on the way from a process. */
function bytesOf(row: Uint8Array): Buffer {
  const bytes = Buffer.from(row.buffer, row.byteOffset, Math.min(row.length, LONGEST_ROW))
  if (!bytes.includes(LINE_FEED)) return bytes
  // Between the parts of JSON any white space is as good; within a text there is none.
  const spaced = Buffer.from(bytes)
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) spaced[at] = SPACE
  return spaced
}

const LINE_FEED = 0x0a
const SPACE = 0x20

function textOf(row: unknown): Buffer {
  if (row === undefined) throw broken('a row is undefined')
  const odd = oddIn(row, '', 0)
  if (odd !== null) throw broken(`a row holds ${odd}`)
  return Buffer.from(JSON.stringify(row).slice(0, LONGEST_ROW))
}

const DEEPEST = 64

/** Describes a value that JSON would change or lose, with its column; null if there is none. */
function oddIn(value: unknown, column: string, depth: number): string | null {
  const where = column === '' ? 'a row that' : column
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null
  // JSON omits it, which is right.
  if (value === undefined) return null
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${where}, which is ${value}`
  if (typeof value !== 'object') return `${where}, which is a ${typeof value}: write it as a text`
  if (depth > DEEPEST) return `${where}, which is nested too deeply`
  if (Array.isArray(value)) {
    for (const inner of value) {
      const odd = oddIn(inner, column, depth + 1)
      if (odd !== null) return odd
    }
    return null
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    const kind = value instanceof Date ? 'a Date: use toISOString()' : 'an instance of a class'
    return `${where}, which is ${kind}`
  }
  for (const name of Object.keys(value)) {
    const odd = oddIn(Reflect.get(value, name), column === '' ? name : `${column}.${name}`, depth + 1)
    if (odd !== null) return odd
  }
  return null
}
