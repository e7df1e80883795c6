import { isUtf8 } from 'node:buffer'
import { type Failed, failed } from '../../sync/port.ts'
import type { RowsEnd, StreamBatch, Way } from '../connector/row-host.ts'
import { parseShallow } from '../cells/parse-cell.ts'
import { FAIL_KINDS } from '../context/connector-run.ts'
import { LONGEST_SENTENCE } from '../context/given-settings.ts'
import { LARGEST_ROW_BYTES, LONGEST_CURSOR } from '../kit/crm-limits.ts'
import { eachLine } from './each-line.ts'

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')
const BATCH_ROWS = 1000
const BATCH_BYTES = 1024 * 1024
/** A longer row is cut to this length: it is withheld as too large in any case. */
const LONGEST_ROW = LARGEST_ROW_BYTES + 1
const LONGEST_LAG_MS = 24 * 3_600_000
const LONGEST_FOUND = 40

/** What must follow the word of a control line. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  ['deleted', 'the id of a row'],
  ['cursor', 'a text'],
  ['fail', 'a kind and a sentence'],
])

/** The output of a command in one read. Each line is a row, or a control line that begins with `#`. */
export class CommandOutput {
  /** Why the read has failed; `null` if it has not. */
  failure: Failed | null = null
  readonly #name: string
  readonly #way: Way
  readonly #onUnknown: (word: string) => void
  readonly #feed = eachLine(LONGEST_ROW, (line, isCut) => this.#takeLine(line, isCut))
  readonly #batches: StreamBatch[] = []
  #rows: Buffer[] = []
  #lines: number[] = []
  #bytes = 0
  #deleted: string[] = []
  #cursor: string | null = null
  #total: number | null = null
  #lagMs = 0
  #count = 0
  #line = 0
  #isEnd = false

  constructor(name: string, way: Way, onUnknown: (word: string) => void) {
    this.#name = name
    this.#way = way
    this.#onUnknown = onUnknown
  }

  /** Returns the batches that are complete. */
  take(bytes: Buffer): readonly StreamBatch[] {
    this.#feed(bytes)
    return this.#batches.splice(0)
  }

  /** Ends the output. The last line need not end with a line break. */
  end(): readonly StreamBatch[] {
    this.#isEnd = true
    this.#feed(Buffer.from('\n'))
    if (this.failure === null) this.#endBatch(false)
    return this.#batches.splice(0)
  }

  /** How the read ended, if nothing failed. */
  get outcome(): RowsEnd {
    if (this.#way === 'full' && this.#count === 0 && this.#total !== 0) {
      const sentence = `${this.#name} printed no row; if the list is empty, it must print #total 0`
      return failed('broken', sentence)
    }
    return { ok: true, cursor: this.#cursor }
  }

  #takeLine(printed: Buffer, isCut: boolean): void {
    if (this.failure !== null) return
    const hasMark = ++this.#line === 1 && printed.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    const line = hasMark ? printed.subarray(BYTE_ORDER_MARK.length) : printed
    if (!isCut && !isUtf8(line)) return this.#failAtLine('the bytes are not UTF-8; the command must print UTF-8')
    const first = line.toString('latin1', 0, 64).trimStart()[0]
    if (first === undefined) return
    if (first === '#') return this.#control(line.toString('utf8').trim())
    if (this.#way === 'ids' && first !== '[') return this.#failAtLine('neither [id, updatedAt] nor a control line')
    // A last line without its end may have been cut, and rows after it lost. Any other is withheld if it is no row.
    if (this.#isEnd && !isCut && !parseShallow(line.toString('utf8')).ok)
      return this.#failAtLine('the output ends here within a row')
    this.#rows.push(line)
    this.#lines.push(this.#line)
    this.#count++
    this.#bytes += line.length
    if (this.#rows.length === BATCH_ROWS || this.#bytes > BATCH_BYTES) this.#endBatch(true)
  }

  #endBatch(goesOn: boolean): void {
    const about = { total: this.#total, lagMs: this.#lagMs, full: false, stable: null, goesOn }
    this.#batches.push({ rows: this.#rows, lines: this.#lines, deleted: this.#deleted, ...about })
    this.#rows = []
    this.#lines = []
    this.#bytes = 0
    this.#deleted = []
  }

  #control(line: string): void {
    const [, word = '', rest = ''] = /^#(\S*)\s*(.*)$/s.exec(line) ?? []
    const needed = rest === '' ? NEEDED.get(word) : undefined
    if (needed !== undefined) this.#failAtLine(`#${word} must be followed by ${needed}`)
    else if (word === 'deleted') this.#deleted.push(rest.slice(0, 256))
    else if (word === 'cursor' && rest.length > LONGEST_CURSOR)
      this.#failAtLine(`#cursor is longer than ${LONGEST_CURSOR} characters`)
    else if (word === 'cursor') this.#cursor = rest
    else if (word === 'total') this.#total = this.#wholeNumber(word, rest)
    else if (word === 'lag') this.#lagMs = Math.min(this.#wholeNumber(word, rest), LONGEST_LAG_MS)
    else if (word === 'fail') this.failure = failureIn(rest.slice(0, LONGEST_SENTENCE))
    else this.#onUnknown(word.slice(0, LONGEST_SENTENCE))
  }

  #wholeNumber(word: 'total' | 'lag', text: string): number {
    if (!/^\d{1,12}$/.test(text)) {
      const meant = word === 'total' ? 'the number of rows' : 'milliseconds'
      const found = JSON.stringify(text.slice(0, LONGEST_FOUND))
      this.#failAtLine(`#${word} takes ${meant} as a whole number, such as #${word} 250, not ${found}`)
    }
    return Number(text)
  }

  #failAtLine(sentence: string): void {
    this.failure = failed('broken', `${this.#name}, line ${this.#line}: ${sentence}`)
  }
}

function failureIn(text: string): Failed {
  const [, kind = '', sentence = ''] = /^(\S*)\s*(.*)$/s.exec(text) ?? []
  const known = FAIL_KINDS.get(kind)
  return known === undefined ? failed('broken', text) : failed(known, sentence === '' ? kind : sentence)
}
