import { describe, expect, it } from 'bun:test'
import { civilFromDays, daysFromCivil, daysInMonth } from './civil.ts'

describe('the civil calendar', () => {
  it('counts every day of the years 1 to 9999 without a gap', () => {
    let days = daysFromCivil(1, 1, 1)
    expect(days).toBe(-719_162)
    for (let year = 1; year <= 9999; year++) {
      for (let month = 1; month <= 12; month++) {
        const last = daysInMonth(year, month)
        // `expect` runs only for a wrong day: three million calls would take a minute.
        for (let day = 1; day <= last; day++, days++) {
          const civil = civilFromDays(days)
          const isRight = civil.year === year && civil.month === month && civil.day === day
          if (!isRight || daysFromCivil(year, month, day) !== days) expect(civil).toEqual({ year, month, day })
        }
      }
    }
    expect(days).toBe(2_932_897)
  })

  it('agrees with Date from year 100 on', () => {
    for (let days = daysFromCivil(100, 1, 1); days < 2_932_897; days += 271) {
      const { year, month, day } = civilFromDays(days)
      expect(Date.UTC(year, month - 1, day)).toBe(days * 86_400_000)
    }
  })

  it.each([
    [2000, 29],
    [1900, 28],
    [2024, 29],
    [2026, 28],
    [4, 29],
  ])('gives February %i %i days', (year, days) => expect(daysInMonth(year, 2)).toBe(days))
})
