import type { z } from 'zod'
import { leaf, Refusal } from './leaf.ts'

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

/** 365 days: what is longer is a slip. */
const LONGEST_MS = 8760 * 3_600_000

/** A duration in milliseconds, written with its unit. */
export function duration({ leastMs = 0 }: { leastMs?: number } = {}): z.ZodType<number> {
  const least = leastMs === 0 ? '' : `, at least ${leastMs % 1000 === 0 ? `${leastMs / 1000}s` : `${leastMs}ms`}`
  return leaf(`a duration such as 500ms, 30s, 15m or 2h${least}`, ({ value }) => {
    const ms = typeof value === 'string' ? parseDuration(value) : value === 0 ? 0 : null
    if (ms === null) return typeof value === 'number' && value > 0 ? withoutUnit(value) : null
    if (ms > LONGEST_MS) return new Refusal('must be at most 8760h (365 days)')
    return ms < leastMs ? null : ms
  })
}

/** The milliseconds of `500ms`, `30s`, `15m`, `2h` or `0`; null for anything else. */
function parseDuration(text: string): number | null {
  const match = /^(\d{1,15}) ?(ms|s|m|h)$/.exec(text.trim())
  if (match === null) return /^0+$/.test(text.trim()) ? 0 : null
  const factor = UNITS.get(match[2] ?? '')
  return factor === undefined ? null : Number(match[1]) * factor
}

function withoutUnit(value: number): Refusal | null {
  return Number.isSafeInteger(value) ? new Refusal(`needs a unit: ${value}ms, ${value}s, ${value}m or ${value}h`) : null
}
