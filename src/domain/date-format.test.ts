import { describe, expect, it } from 'bun:test'
import { parseByFormat, parseDateFormat } from './date-format.ts'

/** The hour and minute of a text in a format, or why that is none. */
function read(format: string, text: string): string | null {
  const parsed = parseDateFormat(format)
  if (typeof parsed === 'string') return parsed
  const wall = parseByFormat(text, parsed)
  return wall === null ? null : new Date(wall.seconds * 1000).toISOString().slice(11, 16)
}

describe('a date format', () => {
  it.each([
    ['DD.MM.YYYY Ahh:mm', '24.12.2036 PM07:30', '19:30'],
    ['YYYY-MM-DD Ah:mm', '2036-12-24 pm7:30', '19:30'],
    ['M/D/YYYY h:mmA', '12/24/2036 7:30PM', '19:30'],
    ['DD.MM.YYYY hh:mm (MMM)', '24.12.2036 19:30 (MMM)', '19:30'],
    ['DD.MM.YYYY hh:mm Y', '24.12.2036 19:30 Y', '19:30'],
  ])('may have AM and PM before a number, and a repeated letter as a literal: %s', (format, text, time) => {
    expect(read(format, text)).toBe(time)
  })

  it.each([
    ['DD.MM.YYYYhmm', 'has a single letter directly before another number; double it'],
    ['DD.MMM.YYYY', 'has a month in words, which Marquee cannot read; write M or MM'],
    ['DD.MM.YY', 'has a year of fewer than four digits; write YYYY'],
  ])('is none: %s %s', (format, problem) => {
    expect(read(format, '')).toBe(problem)
  })
})
