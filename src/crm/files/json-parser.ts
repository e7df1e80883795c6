import { parseCell } from '../cells/parse-cell.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { BROKEN, UNFINISHED, ValueEnd, breaksIn, itemEnd, marginOf, nextItem } from './json-bytes.ts'
import type { BrokenSyntax, RowParser, TakeRow, Taken } from './row-parser.ts'

const TAB = 0x09
const LINE_FEED = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const NOTHING = Buffer.alloc(0)
/** In place of a byte: the file has ended. */
const END = -1

const MOST_NAMES = 20
const NO_LIST = 'a list in [ ] is expected; if this object contains it, set rows to its path, such as rows: events'
const NOT_CLOSED = 'a text is not closed by a quote on its line'
const CUT_SHORT = 'the file ends before the list does: ] is expected'

/** Takes an item that is not JSON, if the rest of the list can be read. */
export type TakeTorn = (line: number, fault: BrokenSyntax) => null

interface JsonFile {
  readonly format: 'json' | 'ndjson'
  /** The path of the list in the file's object; `null` if the file is the list. */
  readonly rows: string | null
  readonly onRow: TakeRow
  /** Absent if a torn item makes the file unusable. */
  readonly onTorn?: TakeTorn | undefined
}

/** Why a file is not JSON: thrown at the fault, and returned by `feed`. */
class NotJson extends Error {
  readonly fault: BrokenSyntax

  constructor(fault: BrokenSyntax) {
    super(fault.problem)
    this.fault = fault
  }
}

/** A part of the work that waits for bytes where it needs more. No bytes are the end of the file. */
type Waiting<Result> = Generator<undefined, Result, Buffer>

/**
 * Finds the items of a JSON list in a file's bytes without decoding them, so a file of any size is never one string.
 * Does not parse the items. If one is torn, brackets and quotes no longer tell where the items end: then lines do, if
 * each item begins one.
 */
export class JsonParser implements RowParser {
  readonly #file: JsonFile
  readonly #work: Waiting<void>
  /** The bytes that are not worked off, from `#at` on. */
  #bytes: Buffer = NOTHING
  #at = 0
  #line = 1
  #isEnded = false
  /** The blanks before the next byte in its line; -1 if there is something else before it. */
  #indent = 0
  #value = new ValueEnd()

  constructor(file: JsonFile) {
    this.#file = file
    this.#work = file.format === 'ndjson' ? this.#lines() : this.#list(file.rows?.split('.') ?? [])
    this.#work.next()
  }

  /** Takes bytes, which must not change afterwards. */
  feed(bytes: Buffer): Taken {
    return bytes.length === 0 ? null : this.#go(bytes)
  }

  finish(): Taken {
    return this.#go(NOTHING)
  }

  #go(bytes: Buffer): Taken {
    try {
      const { done = false } = this.#work.next(bytes)
      if (!done && bytes.length === 0) throw new Error('the end of a file is not waited for')
      return null
    } catch (cause) {
      if (cause instanceof NotJson) return cause.fault
      throw cause
    }
  }

  #refuse(problem: string, more: Partial<BrokenSyntax> = {}): never {
    throw new NotJson({ line: this.#line, problem, ...more })
  }

  /** Waits for more bytes, and drops those that are worked off. Returns false at the end of the file. */
  *#more(): Waiting<boolean> {
    if (this.#isEnded) return false
    const next = yield
    this.#isEnded = next.length === 0
    this.#bytes = this.#at >= this.#bytes.length ? next : Buffer.concat([this.#bytes.subarray(this.#at), next])
    this.#at = 0
    return next.length > 0
  }

  #take(bytes: Buffer, from: number, to: number, line: number): void {
    const fault = this.#file.onRow(bytes, from, to, line)
    if (fault !== null) this.#tear(line, fault)
  }

  #tear(line: number, fault: BrokenSyntax): void {
    if (this.#file.onTorn === undefined) throw new NotJson(fault)
    this.#file.onTorn(line, fault)
  }

  /** Passes on the lines of NDJSON that are not blank. */
  *#lines(): Waiting<void> {
    let from = 0
    let isEmpty = true
    // The beginning of a line that is too large. Its rest is dropped as it comes: to join it would copy that each time.
    let kept: Buffer | null = null
    for (let hasMore = true; hasMore;) {
      let end = this.#bytes.indexOf(LINE_FEED, from)
      if (end === -1) {
        if (this.#bytes.length - this.#at > LARGEST_ROW_BYTES) {
          kept ??= this.#bytes.subarray(this.#at, this.#at + LARGEST_ROW_BYTES + 1)
        }
        if (kept !== null) this.#at = this.#bytes.length
        from = this.#bytes.length - this.#at
        hasMore = yield* this.#more()
        if (!hasMore && isEmpty) this.#refuse('the file is empty; an empty list is one blank line')
        isEmpty = false
        if (hasMore) continue
        end = this.#bytes.length
      }
      const line = kept ?? this.#bytes.subarray(this.#at, end)
      if (!isBlank(line, 0, line.length)) this.#take(line, 0, line.length, this.#line)
      kept = null
      this.#line++
      this.#at = from = end + 1
    }
  }

  *#list(path: readonly string[]): Waiting<void> {
    for (const index of path.keys()) yield* this.#enter(path, index)
    const sign = yield* this.#sign()
    if (sign !== OPEN_LIST && path.length > 0) this.#refuseList(path, `${JSON.stringify(path.join('.'))} is not a list`)
    if (sign === END) this.#refuse('a list in [ ] is expected, but the file is empty')
    if (sign !== OPEN_LIST) this.#refuse(sign === OPEN_OBJECT ? NO_LIST : 'a list in [ ] is expected')
    this.#at++
    yield* this.#items()
    for (const _ of path) {
      while (!(yield* this.#endsObject())) yield* this.#skipMember()
    }
    const whole = path.length === 0 ? 'list' : 'object'
    if ((yield* this.#sign()) !== END) this.#refuse(`the file continues after the end of the ${whole}`)
  }

  /** Finds the next byte that is not blank. */
  *#sign(): Waiting<number> {
    for (;;) {
      const byte = this.#bytes[this.#at]
      if (byte === undefined) {
        if (!(yield* this.#more())) return END
        continue
      }
      if (byte === LINE_FEED) [this.#line, this.#indent] = [this.#line + 1, 0]
      else if (byte !== SPACE && byte !== TAB && byte !== RETURN) return byte
      else if (this.#indent !== -1 && byte !== RETURN) this.#indent++
      this.#at++
    }
  }

  /** Returns the end of the value that begins here; UNFINISHED if the file ends before it. */
  *#end(isKept = true): Waiting<number> {
    this.#value = new ValueEnd()
    // The beginning of a value that is too large. Its rest is dropped as it comes: to join it would copy that each time.
    let kept: Buffer | null = isKept ? null : NOTHING
    let end = this.#value.find(this.#bytes, this.#at)
    while (end === UNFINISHED) {
      if (this.#bytes.length - this.#at > LARGEST_ROW_BYTES) {
        kept ??= this.#bytes.subarray(this.#at, this.#at + LARGEST_ROW_BYTES + 1)
      }
      if (kept !== null) this.#at = this.#bytes.length
      const from = this.#bytes.length - this.#at
      if (!(yield* this.#more())) break
      end = this.#value.find(this.#bytes, from)
    }
    if (kept === null || kept.length === 0) return end
    this.#bytes = Buffer.concat([kept, this.#bytes.subarray(this.#at)])
    this.#at = 0
    return end < 0 ? end : end + kept.length
  }

  /** Passes on the items of a list up to its end. */
  *#items(): Waiting<void> {
    let margin: number | null = null
    let count = 0
    for (let before: 'nothing' | 'item' | 'comma' = 'nothing'; ;) {
      const sign = yield* this.#sign()
      const indent = this.#indent
      this.#indent = -1
      if (sign === END) this.#refuse(CUT_SHORT)
      if (sign === CLOSE_LIST || sign === COMMA) {
        this.#at++
        const isDue = before === 'item' || (before === 'nothing' && sign === CLOSE_LIST)
        if (!isDue) {
          const problem = sign === COMMA ? 'expected an item, found ,' : 'expected an item after the comma, found ]'
          this.#tear(this.#line, { line: this.#line, problem })
        }
        if (sign === CLOSE_LIST) return
        before = 'comma'
        continue
      }
      let problem: string | null = before === 'item' ? `a comma or ] is expected after item ${count}` : null
      if (sign === CLOSE_OBJECT) problem ??= 'expected an item, found }'
      if (problem === null) {
        if (count++ === 0 && sign === OPEN_OBJECT && this.#file.onTorn !== undefined) {
          while (this.#bytes.length - this.#at < 2 && (yield* this.#more())) continue
          margin = marginOf(indent, this.#bytes[this.#at + 1])
        }
        problem = yield* this.#item(count, margin)
      }
      if (problem !== null) {
        if (margin === null) this.#refuse(problem)
        yield* this.#divided(margin)
      }
      before = 'item'
    }
  }

  /** Passes on an item. Returns why the rest of the list has to be divided by lines, from the item on; else `null`. */
  *#item(count: number, margin: number | null): Waiting<string | null> {
    const line = this.#line
    const end = yield* this.#end()
    const to = end < 0 ? this.#bytes.length : end
    const hasNext = margin !== null && nextItem(this.#bytes, this.#at, to, margin) !== -1
    if (end === BROKEN && margin === null) this.#line += this.#value.lines
    if (end === BROKEN) return NOT_CLOSED
    if (end === UNFINISHED && hasNext) return CUT_SHORT
    if (end === UNFINISHED && to - this.#at > LARGEST_ROW_BYTES) {
      this.#refuse(`item ${count}, which begins here, does not end; most likely a bracket or a quote is not closed`)
    }
    const fault = this.#file.onRow(this.#bytes, this.#at, to, line)
    if (fault !== null && hasNext) return fault.problem
    // A number or word may end with the file; anything else is cut off and has its own fault.
    if (fault !== null && end === UNFINISHED) throw new NotJson(fault)
    if (fault !== null) this.#tear(line, fault)
    this.#line += this.#value.lines
    if (end === UNFINISHED) this.#refuse(CUT_SHORT)
    this.#at = to
    return null
  }

  /**
   * Divides the rest of a list by its lines, up to the ] that ends it. A line with a brace at the margin begins the next
   * item; a line with ] no further in than that ends the list.
   */
  *#divided(margin: number): Waiting<void> {
    for (;;) {
      let kept: Buffer | null = null
      let lines = 0
      let next = nextItem(this.#bytes, this.#at, this.#bytes.length, margin)
      while (next === -1) {
        const last = Math.max(this.#bytes.lastIndexOf(LINE_FEED), this.#at)
        if (this.#bytes.length - this.#at > LARGEST_ROW_BYTES) {
          kept ??= this.#bytes.subarray(this.#at, this.#at + LARGEST_ROW_BYTES + 1)
          const to = last > this.#at ? last : this.#bytes.length
          lines += breaksIn(this.#bytes, this.#at, to)
          this.#at = to
        }
        const from = Math.max(last - this.#at, 0)
        if (!(yield* this.#more())) this.#refuse(CUT_SHORT)
        next = nextItem(this.#bytes, from, this.#bytes.length, margin)
      }
      const item = kept ?? this.#bytes.subarray(this.#at, itemEnd(this.#bytes, this.#at, next))
      this.#take(item, 0, item.length, this.#line)
      this.#line += lines + breaksIn(this.#bytes, this.#at, next)
      this.#at = next
      if (this.#bytes[next] === CLOSE_LIST) return
    }
  }

  /** Finds a name of the path in the object that begins here, and skips the members before it. */
  *#enter(path: readonly string[], index: number): Waiting<void> {
    const what = index === 0 ? 'the file' : JSON.stringify(path.slice(0, index).join('.'))
    if ((yield* this.#sign()) !== OPEN_OBJECT) this.#refuseList(path, `${what} is not an object`)
    this.#at++
    const names: string[] = []
    if ((yield* this.#sign()) === CLOSE_OBJECT) this.#refuseList(path, 'the object is empty')
    for (;;) {
      const name = yield* this.#name()
      if (name === path[index]) return
      if (names.length < MOST_NAMES) names.push(JSON.stringify(name.slice(0, 80)))
      yield* this.#skipValue()
      if (yield* this.#endsObject()) this.#refuseList(path, `the names there are ${names.join(', ')}`)
    }
  }

  /** Passes over a brace that ends the object, or over the comma before the next member. */
  *#endsObject(): Waiting<boolean> {
    const sign = yield* this.#sign()
    if (sign !== COMMA && sign !== CLOSE_OBJECT) this.#refuseMember(sign)
    this.#at++
    return sign === CLOSE_OBJECT
  }

  *#name(): Waiting<string> {
    const sign = yield* this.#sign()
    if (sign !== QUOTE) this.#refuseMember(sign)
    const end = yield* this.#end()
    if (end < 0) this.#refuseMember(end)
    const parsed = parseCell(this.#bytes.toString('utf8', this.#at, end))
    this.#at = end
    if ((yield* this.#sign()) !== COLON) this.#refuse('a colon is expected after a name')
    this.#at++
    return parsed.ok && typeof parsed.cell === 'string' ? parsed.cell : ''
  }

  *#skipValue(): Waiting<void> {
    const sign = yield* this.#sign()
    const end = sign === END ? END : yield* this.#end(false)
    this.#line += this.#value.lines
    if (end < 0) this.#refuseMember(end)
    this.#at = end
  }

  *#skipMember(): Waiting<void> {
    yield* this.#name()
    yield* this.#skipValue()
  }

  #refuseMember(sign: number): never {
    if (sign === BROKEN) this.#refuse(NOT_CLOSED)
    if (sign !== END) this.#refuse('a name in quotes, a comma or } is expected')
    return this.#refuse('the file ends before the object does that contains the list: } is expected')
  }

  #refuseList(path: readonly string[], why: string): never {
    this.#refuse(why, { lacking: `rows: no list at ${JSON.stringify(path.join('.'))}: ${why}` })
  }
}

function isBlank(bytes: Buffer, from: number, to: number): boolean {
  // A cheap test first: nearly every line begins with its bracket.
  return bytes[from] !== OPEN_OBJECT && /^[ \t\r]*$/.test(bytes.toString('latin1', from, to))
}
