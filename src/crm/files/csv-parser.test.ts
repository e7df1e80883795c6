import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { type RowCells, CsvParser } from './csv-parser.ts'
import type { CsvRow } from './csv-rows.ts'
import type { BrokenSyntax } from './row-parser.ts'

interface Outcome {
  readonly header: CsvRow | null
  readonly rows: readonly RowCells[]
  readonly lines: readonly number[]
  readonly fault: BrokenSyntax | null
}

async function run(text: string, size = 1000): Promise<Outcome> {
  let header: CsvRow | null = null
  const rows: RowCells[] = []
  const lines: number[] = []
  const parser = new CsvParser((names) => {
    header = names
    return (row, line) => {
      rows.push(row)
      lines.push(line)
      return null
    }
  })
  const characters = [...text]
  for (let from = 0; from < characters.length; from += size) {
    const piece = Buffer.from(characters.slice(from, from + size).join(''))
    const fault = parser.feed(piece)
    piece.fill('?')
    if (fault !== null) return { header, rows, lines, fault }
  }
  const fault = parser.finish()
  return { header, rows, lines, fault }
}

describe('reading CSV', () => {
  it('says so where another separator than the comma was used, whatever follows', async () => {
    for (const [header, name] of [
      ['Id;Name;Price', 'semicolons'],
      ['Id\tName', 'tabs'],
      ['Id|Name', 'vertical bars'],
    ] as const) {
      const { fault } = await run(`${header}\nx,y\nz\n`)
      expect(fault?.line).toBe(1)
      expect(fault?.problem).toContain(`separated by ${name} instead of commas`)
    }
    expect((await run('Id\nx\n')).fault).toBe(null)
    expect((await run('Id,a;b\nx,y\n')).fault).toBe(null)
  })

  it('counts the separators of a row towards its 256 KB', async () => {
    const { fault } = await run(`a,b\n1,2\n${','.repeat(300_000)}\n`, 64 * 1024)
    expect(fault?.line).toBe(3)
    expect(fault?.problem).toContain('larger than 256 KB')
  })

  it('tells a blank cell from a quoted empty one', async () => {
    const { rows } = await run('a,b,c,d\n,"", ,"x ""y"""\n')
    expect(rows).toEqual([[null, '', null, 'x "y"']])
  })

  it.each(['\n', '\r\n', '\r'])('knows the line of each row, with %j, blank lines and quoted ones', async (end) => {
    const text = ['a,b', '', '1,2', `3,"x${end}${end}y"`, '', '', '5,6', '7,8'].join(end)
    for (const size of [1, 2, 3, 7, 1000]) {
      const { rows, lines, fault } = await run(text, size)
      expect(fault).toBeNull()
      expect(rows).toEqual([
        ['1', '2'],
        ['3', `x${end}${end}y`],
        ['5', '6'],
        ['7', '8'],
      ])
      expect(lines).toEqual([3, 4, 9, 10])
    }
  })

  it('takes a header row alone as an empty list', async () => {
    expect(await run('a,b')).toEqual({ header: ['a', 'b'], rows: [], lines: [], fault: null })
    expect(await run('a,b\r\n')).toEqual({ header: ['a', 'b'], rows: [], lines: [], fault: null })
  })

  it.each([
    ['', 1, 'a header row is expected'],
    ['\n\n', 1, 'a header row is expected'],
    ['a,b,a\n', 1, 'the header names "a" twice'],
    ['a,b\n1,2\n\n1\n', 4, 'the row has 1 cells, but the header row has 2'],
    ['a,b\n1,2,3\n1,2', 2, 'the row has 3 cells, but the header row has 2'],
    ['a,b\n1,2\n"x,2\n3,4\n', 3, 'the row that begins here has an unclosed quote'],
    [
      'a,b\n1,2\n"x"y,2\n',
      3,
      'a separator or the end of the line must follow a quote that closes a cell; write a quote inside a cell twice',
    ],
    [
      'a,b\n12" vinyl,2\n',
      2,
      'a cell contains a quote but does not begin with one; enclose the cell in quotes and write the quote twice',
    ],
  ])('refuses %j in line %d: %s', async (text, line, problem) => {
    expect((await run(text)).fault).toEqual({ line, problem })
    expect((await run(text, 1)).fault).toEqual({ line, problem })
  })

  it.each([
    ['="01067",x', ['01067', 'x']],
    ['x,="01067"', ['x', '01067']],
    ['"=""01067""",x', ['01067', 'x']],
    ['="a,b","=""c,d"""', ['a,b', 'c,d']],
    ['="say ""x""","=""say """"x"""""""', ['say "x"', 'say "x"']],
    ['="",x', ['', 'x']],
    ['="a\nb",x', ['a\nb', 'x']],
    // Neither a guard, nor at the start of a cell.
    ['"a,=""b""",x', ['a,="b"', 'x']],
    ['"\n=""b""",x', ['\n="b"', 'x']],
    ['=,"=x"', ['=', '=x']],
    ['=1+1,"=""a""&""b"""', ['=1+1', '="a"&"b"']],
  ])('reads %s without the guard that Excel needs around a text, wherever the chunks are cut', async (row, cells) => {
    for (const size of [1, 2, 3, 1000]) {
      const { header, rows, fault } = await run(`="Nr","=""Na,me"""\r\n${row}\r\n${row}`, size)
      expect([header, rows, fault]).toEqual([['Nr', 'Na,me'], [cells, cells], null])
    }
  })

  it('does not take two columns without a name for one name twice', async () => {
    expect((await run('a,,\n1,,\n')).fault).toBeNull()
  })

  it('reads back whatever was quoted, wherever the chunks are cut', async () => {
    const cell = fc.oneof(fc.string(), fc.constantFrom('', '"', ',', '\n', '\r\n', 'é', ';', ' '))
    const rows = fc.array(fc.tuple(cell, cell), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom('\n', '\r\n'), fc.integer({ min: 1, max: 9 }), async (list, end, size) => {
        fc.pre(!list.flat().some((text) => text.startsWith('="')))
        const quoted = list.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(','))
        const found = await run(['a,b', ...quoted].join(end), size)
        expect(found.fault).toBeNull()
        // Rows of blank cells are skipped, quoted or not.
        expect(found.rows).toEqual(list.filter((row) => row.some((text) => text.trim() !== '')))
      }),
    )
  })
})
