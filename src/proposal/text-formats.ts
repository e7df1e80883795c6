import type { DateFormat } from '../domain/date-format.ts'
import { type Column, currenciesOf, decimalSign } from './column.ts'
import { type Line, example, OPEN, quoted } from './line.ts'
import { howMany } from '../domain/printable.ts'
import type { Dates } from './moments.ts'
import type { Table } from './table.ts'

const SIGNS: ReadonlyMap<string, string> = new Map([
  [',', "','"],
  [';', "';'"],
  ['|', "'|'"],
  ['\t', 'tab'],
])

export function textLines(
  table: Table,
  numbers: readonly Column[],
  { formats, dayOnly }: Pick<Dates, 'formats' | 'dayOnly'>,
  tags: Column | null,
): readonly Line[] {
  const lines: Line[] = []
  const add = (key: string, value: string, evidence: string): void => void lines.push({ key, value, evidence })
  if (!table.isWorkbook && !table.isTyped) {
    add(
      'delimiter',
      SIGNS.get(table.delimiter ?? ',') ?? quoted(table.delimiter ?? ','),
      `${howMany(table.columns.length, 'column')} in ${howMany(table.rows, 'row')}`,
    )
    const { sure, candidates } = table.encoding
    if (sure === null) {
      const shown = candidates.map(({ label, word }) => `${label} gives ${word}`)
      add('encoding', OPEN, `The bytes are not UTF-8. Which is right: ${shown.join(', ')}?`)
    } else {
      const alike = candidates.slice(1, 3).map(({ label }) => label)
      const fact = `the bytes are not UTF-8; ${alike.join(' and ')} give the same text`
      add('encoding', sure, candidates.length === 0 ? 'all bytes are valid' : fact)
    }
  }
  const written = numbers.flatMap(({ texts }) => texts.flatMap(({ text, isText }) => (isText ? [text] : [])))
  const { sign: decimal, example: shown } = decimalSign(written)
  if (decimal === 'both')
    add('decimal', OPEN, `Is ${shown} written with a decimal comma (',') or a decimal point ('.')?`)
  else if (decimal !== null) add('decimal', quoted(decimal), `e.g. ${shown}`)
  const currencies = currenciesOf(written)
  if (currencies.length > 0)
    add('currency', `[${currencies.map(quoted).join(', ')}]`, 'written next to numbers, and ignored')
  if (table.headerRow !== 1) {
    const names = table.columns.slice(0, 4).map(({ name }) => name)
    add('headerRow', String(table.headerRow), names.join(', '))
  }
  if (dayOnly !== null) {
    const serves = (formats.length === 0 ? ['YYYY-MM-DD'] : waysOf(formats)).map((each) => `[${each}]`).join(' or ')
    add(
      'dates',
      OPEN,
      `${dayOnly.name} has no time. Write ${serves} to serve 00:00, or join a column of times in Start.`,
    )
  } else if (formats.length > 0) {
    const [way = '', other] = waysOf(formats)
    if (other === undefined) add('dates', `[${quoted(way)}]`, 'fits the dates')
    else add('dates', OPEN, `The dates fit both [${way}] and [${other}]. Which is right?`)
  }
  const separators = [';', ',', '/', '|'].filter((sign) =>
    tags?.texts.some(({ text, isText }) => isText && text.includes(sign)),
  )
  if (separators.length > 0) add('tags', `[${separators.map(quoted).join(', ')}]`, example(tags ?? { texts: [] }))
  return lines
}

/** The first format, and the first one with day and month swapped. */
function waysOf(formats: readonly DateFormat[]): readonly string[] {
  const [first] = formats
  const other = formats.find((one) => first !== undefined && isMonthFirst(one) !== isMonthFirst(first))
  return [first, other].flatMap((format) => format?.written ?? [])
}

export function isMonthFirst({ written }: DateFormat): boolean {
  return written.startsWith('M')
}
