import { describe, expect, it } from 'bun:test'
import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { type CsvLine, CsvRows } from './csv-rows.ts'

/** The cells of each row, a blank one without quotes as an empty text; or `null` if the text is not CSV. */
type Cells = readonly (readonly string[])[] | null

function divided(
  text: string,
  size: number,
  delimiter = ',',
): { readonly lines: readonly CsvLine[]; readonly ok: boolean } {
  const lines: CsvLine[] = []
  const rows = new CsvRows(delimiter, (row) => {
    lines.push(row)
    return null
  })
  let fault = null
  for (let from = 0; from < text.length; from += size) fault ??= rows.feed(text.slice(from, from + size))
  fault ??= rows.finish()
  return { lines, ok: fault === null }
}

function ours(text: string, size = 1000, delimiter = ','): Cells {
  const { lines, ok } = divided(text, size, delimiter)
  const filled = lines.flatMap(({ cells }) => (cells.length === 0 ? [] : [cells.map((cell) => cell ?? '')]))
  return ok ? filled : null
}

/** As csv-parse divides it, which is independent of this. */
function theirs(text: string, delimiter = ','): Cells {
  try {
    const rows = parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      cast: (cell, { quoting }) => (!quoting && cell.trim() === '' ? '' : cell),
    })
    return rows
  } catch (cause) {
    if (cause instanceof CsvError) return null
    throw cause
  }
}

describe('dividing CSV into rows', () => {
  it.each([
    ['RFC 4180, 2.1: each record on a line', 'aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n'],
    ['RFC 4180, 2.2: the last record without a line break', 'aaa,bbb,ccc\r\nzzz,yyy,xxx'],
    ['RFC 4180, 2.4: spaces are part of a cell', ' a ,b, c\r\n'],
    ['RFC 4180, 2.5: cells in quotes', '"aaa","bbb","ccc"\r\nzzz,yyy,xxx'],
    ['RFC 4180, 2.6: line breaks, quotes and commas within quotes', '"aaa","b\r\nbb","c,cc"\r\nzzz,yyy,xxx'],
    ['RFC 4180, 2.7: a quote within quotes', '"aaa","b""bb","ccc"'],
    ['LF alone, as on Unix', 'a,b\nc,d\n'],
    ['CR alone, as Excel for the Mac writes it', 'a,b\rc,d\r'],
    ['all three line ends in one file', 'a\r\nb\nc\rd'],
    ['other line breaks within quotes', '"a\nb","c\rd"\n"\r\n"\n'],
    ['empty lines above, between and below', '\n\r\n\ra\n\n\nb\n\n'],
    ['empty cells', ',,\na,,b\n,\n'],
    ['quoted empty cells', '"",""\n""\n'],
    ['a cell of quotes', '""""\n""""""\n'],
    ['a quote at the end of a cell', '"a"""\n'],
    ['rows of several widths', 'a\nb,c\nd,e,f\n'],
    ['nothing', ''],
    ['characters of several bytes', 'é,😀\n"ß,"\n'],
    ['a quote that is not closed', 'a,"b\nc,d\n'],
    ['a quote that is not closed in the last cell', '"'],
    ['a quote within a cell', '12" vinyl,b\n'],
    ['something after a closing quote', '"a"b,c\n'],
    ['a blank after a closing quote', '"a" ,c\n'],
    ['a blank before an opening quote', 'a, "b"\n'],
    ['a byte order mark, which is none here', '\ufeffa,b\n'],
    ['signs of formulas', '=1+1,+2,-3,@x\n'],
  ])('agrees with csv-parse on %s', (_, text) => {
    for (const size of [1, 2, 3, 1000]) expect(ours(text, size)).toEqual(theirs(text))
  })

  it.each([';', '\t', '|'])('agrees with csv-parse if cells are separated by %j', (delimiter) => {
    const text = ['a', '"b,"', `"c${delimiter}"`, ''].join(delimiter)
    expect(ours(`${text}\n${text}`, 2, delimiter)).toEqual(theirs(`${text}\n${text}`, delimiter))
  })

  it('agrees with csv-parse on any text, wherever the parts are cut', () => {
    const sign = fc.constantFrom('a', 'é', '😀', ' ', '"', '""', ',', ',', '\n', '\r\n', '\r', '=', '","', '"\n"')
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (signs, size) => {
        const text = signs.join('')
        // csv-parse does not know that a cell may be guarded.
        fc.pre(!text.includes('="'))
        expect(ours(text, size)).toEqual(theirs(text))
      }),
      { numRuns: 5000 },
    )
  })

  it('knows in which line each row begins', () => {
    for (const size of [1, 2, 1000]) {
      const { lines } = divided('a\n\n"b\r\nc\rd"\r\ne\r"f\n"', size)
      expect(lines.filter(({ cells }) => cells.length > 0).map(({ line }) => line)).toEqual([1, 3, 6, 7])
    }
  })

  it('takes time in proportion to the text, however it is cut', () => {
    const quoted = `"${'""'.repeat(100_000)}"\n`
    const text = quoted.repeat(20)
    const begunMs = performance.now()
    expect(ours(text, 4096)?.length).toBe(20)
    expect(performance.now() - begunMs).toBeLessThan(5000)
  })
})
