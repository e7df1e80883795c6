import type { InfoRecord, Parser } from 'csv-parse'
import { CsvError, parse } from 'csv-parse'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { CsvRow } from './csv-rows.ts'
import type { RowParser, SyntaxFault } from './row-parser.ts'
import { LONGEST_ROW_BYTES } from './row-parser.ts'

/** Reads a header row and the rows below it, as RFC 4180 has them; lines without a cell are skipped. */
export class CsvParser implements RowParser {
  readonly #parser: Parser
  readonly #onHeader: (header: CsvRow) => (row: CsvRow, line: number) => void
  #onRow: ((row: CsvRow, line: number) => void) | null = null
  #width = 0
  #fault: SyntaxFault | null = null
  /** Where the row begins that is being read, but for blank lines before it. */
  #rowLine = 1
  #blankLines = 0

  constructor(onHeader: (header: CsvRow) => (row: CsvRow, line: number) => void) {
    this.#onHeader = onHeader
    this.#parser = parse({
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      // Counted here, where the line is known.
      relax_column_count: true,
      max_record_size: LONGEST_ROW_BYTES,
      cast: (cell, { quoting }) => (quoting || trimWhiteSpace(cell) !== '' ? cell : null),
      on_record: (row: CsvRow, info) => {
        this.#takeRow(row, info)
        return null
      },
    })
    // Each write tells of its own error; without a listener it would also end the process.
    this.#parser.on('error', () => {})
  }

  get #line(): number {
    return this.#rowLine + this.#parser.info.empty_lines - this.#blankLines
  }

  async feed(bytes: Buffer): Promise<SyntaxFault | null> {
    // The parser keeps a view of what it has not finished, and these bytes' memory is used again.
    const kept = Buffer.from(bytes)
    return this.#outcome(await new Promise((resolve) => void this.#parser.write(kept, resolve)))
  }

  async finish(): Promise<SyntaxFault | null> {
    this.#parser.resume()
    const fault = this.#outcome(
      await new Promise((resolve) => {
        this.#parser.once('error', resolve)
        this.#parser.end(resolve)
      }),
    )
    return fault ?? (this.#onRow === null ? { line: 1, problem: 'a header row is expected' } : null)
  }

  #takeRow(row: CsvRow, { empty_lines }: InfoRecord): void {
    if (this.#fault !== null) return
    const line = this.#rowLine + empty_lines - this.#blankLines
    if (this.#onRow === null) this.#takeHeader(row, line)
    else if (row.length === this.#width) this.#onRow(row, line)
    else
      this.#fault = {
        line,
        problem: `${this.#width} cells are expected, as in the header row, and ${row.length} are found`,
      }
    this.#blankLines = empty_lines
    this.#rowLine = line + 1
    for (const cell of row) if (cell !== null) this.#rowLine += lineBreaksIn(cell)
  }

  #takeHeader(header: CsvRow, line: number): void {
    const names = header.filter((name) => name !== null)
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice !== undefined)
      this.#fault = { line, problem: `the header names ${JSON.stringify(twice.slice(0, 80))} twice` }
    const separator = header.length === 1 ? /[;\t|]/.exec(header[0] ?? '')?.[0] : undefined
    if (separator !== undefined) {
      // As spreadsheets write it where the comma is in numbers. No field has such a name, so no row could be served.
      const problem = `cells are separated by ${SEPARATORS[separator]} here, and commas are expected; export it as CSV with commas`
      this.#fault = { line, problem }
    }
    this.#width = header.length
    this.#onRow = this.#onHeader(header)
  }

  #outcome(error: unknown): SyntaxFault | null {
    if (this.#fault !== null || error === null || error === undefined) return this.#fault
    if (!(error instanceof CsvError)) throw new Error('a CSV file cannot be parsed', { cause: error })
    return { line: this.#line, problem: PROBLEMS[error.code] ?? 'the row is no CSV' }
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened in the row that begins here, and not closed',
  CSV_INVALID_CLOSING_QUOTE:
    'a comma or the end of the line is expected after a quote that closes a cell; a quote in a cell is doubled',
  INVALID_OPENING_QUOTE:
    'a quote stands within a cell that does not begin with one; such a cell is quoted, and the quote doubled',
  CSV_MAX_RECORD_SIZE: 'the row that begins here is larger than 16 MB; most likely a quote is not closed',
}

const SEPARATORS: Readonly<Record<string, string>> = { ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' }

function lineBreaksIn(cell: string): number {
  if (!cell.includes('\n') && !cell.includes('\r')) return 0
  return cell.split(/\r\n|\n|\r/).length - 1
}
