import type { z } from 'zod'
import { leaf, Refusal } from './leaf.ts'

/** A whole number within limits; `{ env }` and `{ file }` hold only text, so there its digits are read. */
export function wholeNumber(least: number, most: number): z.ZodType<number> {
  const allowed = `a whole number from ${least} to ${most}`
  return leaf(allowed, ({ value, reference }) => {
    if (typeof value === 'string' && reference === null && isDigits(value)) {
      return new Refusal(`must be ${allowed}, without quotes`)
    }
    const number = typeof value === 'string' && isDigits(value) ? Number(value) : value
    return typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most ? number : null
  })
}

function isDigits(text: string): boolean {
  return /^\d{1,15}$/.test(text.trim())
}
