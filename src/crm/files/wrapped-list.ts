import { type BrokenSyntax, type TakeRow, type Taken, CarriedRow } from './row-parser.ts'
import { parseCell } from '../cells/parse-cell.ts'
import {
  type TakeRest,
  type TakeTorn,
  BROKEN,
  JsonArrayParser,
  NdjsonParser,
  UNFINISHED,
  ValueEnd,
} from './json-parsers.ts'

/** `value`: on the path to the list; `first`, `next`: before a name; `skipped`: the value of another member. */
type Phase = 'value' | 'first' | 'next' | 'name' | 'colon' | 'other' | 'skipped' | 'member' | 'list' | 'after'

const LINE_FEED = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, LINE_FEED, 0x0d, 0x09])
const MOST_NAMES = 20

type JsonParser = JsonArrayParser | NdjsonParser | WrappedListParser

/**
 * Returns the parser of a JSON file.
 * @param rows the path of the list in the file's object; `null` if the file is the list
 * @param onTorn absent if a torn row makes the file unusable
 */
export function jsonParser(
  format: 'json' | 'ndjson',
  rows: string | null,
  onRow: TakeRow,
  onTorn?: TakeTorn,
): JsonParser {
  if (format === 'ndjson') return new NdjsonParser(onRow, onTorn)
  if (rows === null) return new JsonArrayParser(onRow, { onTorn })
  return new WrappedListParser(rows, (line, onRest) => new JsonArrayParser(onRow, { onTorn, onRest }, line))
}

/** Finds the list that a JSON object contains, at a path of names, and skips all other members. */
class WrappedListParser {
  readonly #path: readonly string[]
  readonly #openList: (line: number, onRest: TakeRest) => JsonArrayParser
  #list: JsonArrayParser | null = null
  #phase: Phase = 'value'
  #line = 1
  readonly #value = new ValueEnd()
  /** The number of open objects, and of the names of the path that have been found. */
  #open = 0
  #found = 0
  /** The first names of the innermost object, for a message. */
  #names: string[] = []
  #name = ''
  readonly #carried = new CarriedRow((bytes, from, to) => {
    const parsed = parseCell(bytes.toString('utf8', from, to))
    this.#name = parsed.ok && typeof parsed.cell === 'string' ? parsed.cell : ''
    if (this.#names.length < MOST_NAMES) this.#names.push(this.#name)
    return null
  })

  /** @param openList returns the parser of the list, which begins in a line */
  constructor(path: string, openList: (line: number, onRest: TakeRest) => JsonArrayParser) {
    this.#path = path.split('.')
    this.#openList = openList
  }

  feed(bytes: Buffer): Taken {
    for (let index = 0; index < bytes.length;) {
      if (this.#phase === 'list' && this.#list !== null) return this.#list.feed(bytes.subarray(index))
      const next = this.#next(bytes, index)
      if (typeof next !== 'number') return next
      index = next
    }
    return null
  }

  finish(): Taken {
    if (this.#phase === 'after') return null
    const fault = this.#phase === 'list' ? (this.#list?.finish() ?? null) : null
    return fault ?? this.#fault('the file ends before the object does that contains the list: } is expected')
  }

  #next(bytes: Buffer, index: number): number | BrokenSyntax {
    if (this.#phase === 'name' || this.#phase === 'skipped') return this.#pass(bytes, index)
    const byte = bytes[index]
    if (byte === LINE_FEED) this.#line++
    if (byte === undefined || BLANKS.has(byte)) return index + 1
    if (this.#phase === 'value') return this.#enter(byte, index)
    if (this.#phase === 'after') return this.#fault('the file continues after the end of the object')
    if (this.#phase === 'other') {
      this.#phase = 'skipped'
      return index
    }
    if (this.#phase === 'colon') {
      if (byte !== COLON) return this.#fault('a colon is expected after a name')
      const isOnPath = this.#open === this.#found + 1 && this.#name === this.#path[this.#found]
      this.#phase = isOnPath ? 'value' : 'other'
      if (isOnPath) [this.#found, this.#names] = [this.#found + 1, []]
      return index + 1
    }
    if (byte === QUOTE && this.#phase !== 'member') {
      this.#phase = 'name'
      return index
    }
    if (byte === COMMA && this.#phase === 'member') {
      this.#phase = 'next'
      return index + 1
    }
    if (byte !== CLOSE_OBJECT || this.#phase === 'next')
      return this.#fault('a name in quotes, a comma or } is expected')
    if (this.#found < this.#path.length) {
      const names = this.#names.map((name) => JSON.stringify(name.slice(0, 80)))
      return this.#noList(names.length === 0 ? 'the object is empty' : `the names there are ${names.join(', ')}`)
    }
    this.#phase = --this.#open === 0 ? 'after' : 'member'
    return index + 1
  }

  /** Begins the list, or an object on the path to it. */
  #enter(byte: number, index: number): number | BrokenSyntax {
    const isInside = this.#found < this.#path.length
    if (byte !== (isInside ? OPEN_OBJECT : OPEN_LIST)) {
      const what = this.#found === 0 ? 'the file' : JSON.stringify(this.#path.slice(0, this.#found).join('.'))
      return this.#noList(`${what} is not ${isInside ? 'an object' : 'a list'}`)
    }
    if (isInside) {
      this.#open++
      this.#phase = 'first'
      return index + 1
    }
    this.#phase = 'list'
    this.#list = this.#openList(this.#line, (rest, line) => {
      this.#phase = 'member'
      this.#line = line
      return this.feed(rest)
    })
    return index
  }

  /** Passes over a name, or over the value of another member. */
  #pass(bytes: Buffer, index: number): number | BrokenSyntax {
    const { lines } = this.#value
    const end = this.#value.find(bytes, index)
    this.#line += this.#value.lines - lines
    if (end === BROKEN) return this.#fault('a text is not closed by a quote on its line')
    const isName = this.#phase === 'name'
    if (end === UNFINISHED) {
      if (isName) this.#carried.carry(bytes.subarray(index))
      return bytes.length
    }
    if (isName) this.#carried.end(bytes, index, end, this.#line)
    this.#phase = isName ? 'colon' : 'member'
    return end
  }

  #noList(why: string): BrokenSyntax {
    return {
      line: this.#line,
      problem: why,
      lacking: `rows: no list at ${JSON.stringify(this.#path.join('.'))}: ${why}`,
    }
  }

  #fault(problem: string): BrokenSyntax {
    return { line: this.#line, problem }
  }
}
