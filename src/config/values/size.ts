import type { z } from 'zod'
import { leaf, Refusal } from './leaf.ts'

const UNITS: ReadonlyMap<string, number> = new Map([
  ['B', 1],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['TB', 1e12],
  ['KIB', 2 ** 10],
  ['MIB', 2 ** 20],
  ['GIB', 2 ** 30],
  ['TIB', 2 ** 40],
])

/** A number of bytes, written with its unit: `2GB` is two thousand million, `2GiB` is 2³¹. */
export function size(): z.ZodType<number> {
  return leaf('a size such as 512MB, 2GB or 2GiB, at least 1KB', ({ value }) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) {
      return new Refusal(`needs a unit: ${value}MB or ${value}GB`)
    }
    const bytes = typeof value === 'string' ? parseSize(value) : null
    return bytes !== null && bytes >= 1000 && Number.isSafeInteger(bytes) ? bytes : null
  })
}

/** The bytes of `512MB` or `2 GiB`, in any case; null for anything else. */
function parseSize(text: string): number | null {
  const match = /^(\d{1,15}) ?([A-Za-z]{1,3})$/.exec(text.trim())
  const factor = match === null ? undefined : UNITS.get((match[2] ?? '').toUpperCase())
  return match === null || factor === undefined ? null : Number(match[1]) * factor
}
