import { describe, expect, it } from 'bun:test'
import { parseByFormat, parseDateFormat } from './date-format.ts'

/** The wall time of a text in a format, or why that is none. */
function read(format: string, text: string): string | null {
  const parsed = parseDateFormat(format)
  if (typeof parsed === 'string') return parsed
  const wall = parseByFormat(text, parsed)
  return wall === null ? null : new Date(wall.seconds * 1000).toISOString().slice(0, 16)
}

describe('a date format', () => {
  it.each([
    ['DD.MM.YYYY Ahh:mm', '24.12.2036 PM07:30'],
    ['YYYY-MM-DD Ah:mm', '2036-12-24 pm7:30'],
    ['M/D/YYYY h:mmA', '12/24/2036 7:30PM'],
    ['M/D/YYYY h:mm A', '12/24/2036 7:30 p.m.'],
    ['DD.MM.YYYY hh:mm (MMM)', '24.12.2036 19:30 (MMM)'],
    ['DD.MM.YYYY hh:mm Y', '24.12.2036 19:30 Y'],
  ])('may have AM and PM before a number, and a repeated letter as a literal: %s', (format, text) => {
    expect(read(format, text)).toBe('2036-12-24T19:30')
  })

  it.each([
    ['DD.MM.YY hh:mm', '10.01.27 19:00', '2027-01-10T19:00'],
    ['M/D/YY h:mm A', '1/10/27 7:00 PM', '2027-01-10T19:00'],
    ['YYMMDDThhmm', '270110T1900', '2027-01-10T19:00'],
    ['D.M.YY', '1.2.99', '2099-02-01T00:00'],
    ['DD/MM/YY', '10/01/2027', null],
    ['DD/MM/YYYY', '10/01/27', null],
  ])('may have a year of two digits, from 2000 to 2099: %s', (format, text, wall) => {
    expect(read(format, text)).toBe(wall)
  })

  it.each([
    ['ddd D.M.YYYY', 'Fr. 20.8.2027'],
    ['ddd D.M.YYYY', 'Freitag 20.8.2027'],
    ['ddd, D.M.YYYY', 'FR, 20.8.2027'],
    ['ddd., D.M.YYYY', 'Fr., 20.8.2027'],
    ['dddd D/M/YYYY', 'vendredi 20/8/2027'],
    ['dddd D/M/YYYY', 'ven. 20/8/2027'],
    ['ddd D/M/YYYY', 'Vie 20/8/2027'],
    ['D/M/YYYY (ddd)', '20/8/2027 (sáb.)'],
    ['ddd D/M/YYYY', 'MIÉ 20/8/2027'],
    ['ddd D-M-YYYY', 'vr 20-8-2027'],
    ['ddd D/M/YYYY', 'venerdì 20/8/2027'],
    ['ddd, M/D/YYYY', 'Thurs, 8/20/2027'],
  ])("may have a day's name, which is skipped: %s %s", (format, text) => {
    expect(read(format, text)).toBe('2027-08-20T00:00')
  })

  it.each(['Xy 20.8.2027', 'F 20.8.2027', '20.8.2027', 'August 20.8.2027'])(
    'needs a name of a day where it has one: %s',
    (text) => {
      expect(read('ddd D.M.YYYY', text)).toBeNull()
    },
  )

  it.each([
    ['D.M.YYYY', '20. 8. 2027'],
    ['D.M.YYYY', '20.8.2027'],
    ['D. M. YYYY', '20.8.2027'],
    ['D. M. YYYY', '20.\u00a08. 2027'],
    ['D/M/YYYY', '20 / 8 / 2027'],
    ['ddd D.M.YYYY', 'Fr.20.8.2027'],
    ['YYYY-MM-DDT00:00:00.000Z', '2027-08-20T00:00:00.000Z'],
    ['YYYY-MM-DD 00:00:00', '2027-08-20 00:00:00'],
    ['M/D/YYYY 12:00:00 AM', '8/20/2027 12:00:00 AM'],
  ])('of days does not depend on blanks, and may have midnight as a literal: %s %s', (format, text) => {
    const parsed = parseDateFormat(format)
    expect(read(format, text)).toBe('2027-08-20T00:00')
    expect(parsed).toMatchObject({ hasTime: false })
  })

  it.each([
    ['D.M.YYYY hh:mm', '20. 8. 2027  19:30', '2027-08-20T19:30'],
    ['D.M.YYYY hh:mm Uhr', '20.8.2027\n19:30Uhr', '2027-08-20T19:30'],
    ['D.M.YYYY h:mmA', '20.8.2027 7:30 PM', '2027-08-20T19:30'],
    ['D.M.YYYY h:mm A', '20.8.2027 7:30PM', '2027-08-20T19:30'],
    ['D.M.YYYY hh:mm', '20.8.202719:30', null],
    ['D M YYYY', '208 2027', null],
    ['YYYY-MM-DD 00:00', '2027-08-2000:00', null],
  ])('needs a blank only between two numbers: %s %j', (format, text, wall) => {
    expect(read(format, text)).toBe(wall)
  })

  it.each([
    ['DD.MM.YYYYhmm', 'has a single letter directly before another number; double it'],
    ['DD.MMM.YYYY', 'has a month in words, which Marquee cannot read; write M or MM'],
    ['DD.MM.YYY', 'has the year YYY; write YYYY, or YY for two digits'],
    ['dd.MM.YYYY', "has dd: days are D or DD, and a day's name is ddd"],
    ['ddd', 'has no year'],
  ])('is none: %s %s', (format, problem) => {
    expect(read(format, '')).toBe(problem)
  })
})
