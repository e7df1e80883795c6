import { describe, expect, it } from 'bun:test'
import { parseDayTimes } from './time-range.ts'

function read(text: string): string | null {
  const times = parseDayTimes(text)
  return times === null ? null : [times.from, times.to].flatMap((seconds) => clock(seconds) ?? []).join('-')
}

function clock(seconds: number | null): string | null {
  if (seconds === null) return null
  return `${Math.floor(seconds / 3600)}:${String(Math.floor(seconds / 60) % 60).padStart(2, '0')}`
}

describe('the times of a day', () => {
  it.each([
    ['7:00 PM – 9:00 PM', '19:00-21:00'],
    ['9.00 a.m. to 5.00 p.m.', '9:00-17:00'],
    ['10p-2a', '22:00-2:00'],
    ['10h - 13h', '10:00-13:00'],
    ['19.30–22 Uhr', '19:30-22:00'],
    ['20–24 Uhr', '20:00-24:00'],
    ['18:30 bis 20:00', '18:30-20:00'],
    ['von 18:30 bis ca. 20 Uhr', '18:30-20:00'],
    ['from 7 to 9 pm', '19:00-21:00'],
    ['noon until 2pm', '12:00-14:00'],
    ['7pm - midnight', '19:00-24:00'],
    ['de 10 a 13', '10:00-13:00'],
    ['desde las 10 hasta las 13', '10:00-13:00'],
    ['de 10h à 13h', '10:00-13:00'],
    ['14h30 à 18h', '14:30-18:00'],
    ['dalle ore 10 alle ore 13', '10:00-13:00'],
    ['van 10 tot 13 uur', '10:00-13:00'],
    ['20u30 - 22u', '20:30-22:00'],
    ['10:00~12:00', '10:00-12:00'],
  ])('are a range: %s', (text, times) => {
    expect(read(text)).toBe(times)
  })

  it.each([
    ['7–9 PM', '19:00-21:00'],
    ['11-1pm', '11:00-13:00'],
    ['12-3pm', '12:00-15:00'],
    ['10-12 PM', '10:00-12:00'],
    ['10-2 am', '22:00-2:00'],
    ['12-1 am', '0:00-1:00'],
    ['7 PM - 9', '19:00-21:00'],
    ['10am-2', '10:00-14:00'],
    ['10pm-2', '22:00-2:00'],
    ['17:00 - 1:00 AM', '17:00-1:00'],
    ['7-9', '7:00-9:00'],
  ])('take AM or PM from the other side if the range then runs forward: %s', (text, times) => {
    expect(read(text)).toBe(times)
  })

  it.each([
    ['19h', '19:00'],
    ['19h30', '19:30'],
    ['18 h 30', '18:30'],
    ['19.30 Uhr', '19:30'],
    ['19 Uhr 30', '19:30'],
    ['ab 19 Uhr', '19:00'],
    ['7:30 p.m.', '19:30'],
    ['7.30pm', '19:30'],
    ['7 PM', '19:00'],
    ['10p', '22:00'],
    ['12:00:00 AM', '0:00'],
    ['19:30h', '19:30'],
    ['ore 21', '21:00'],
    ['a las 21h', '21:00'],
    ['om 20.00 uur', '20:00'],
    ['24:00', '24:00'],
    ['9:30', '9:30'],
  ])('are one time: %s', (text, time) => {
    expect(read(text)).toBe(time)
  })

  it.each([
    '19',
    '1930',
    '0.8125',
    '25:00',
    '24:30',
    '19:60',
    '13 PM',
    '0 AM',
    'midnight',
    'bis 20 Uhr',
    '19:30 - offen',
    '9-5',
    '11:30 – 1:30',
    '',
  ])('are not in %j', (text) => {
    expect(read(text)).toBeNull()
  })

  it('are found in time that does not grow with what else the text holds', () => {
    const began = performance.now()
    for (const text of ['a '.repeat(30), 'de '.repeat(20), `${'h'.repeat(29)} ${'1'.repeat(29)}`, '-'.repeat(60)]) {
      for (let times = 0; times < 200; times++) expect(parseDayTimes(text)).toBeNull()
    }
    expect(performance.now() - began).toBeLessThan(2000)
  })
})
