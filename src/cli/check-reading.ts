import type { Configuration } from '../config/configuration.ts'
import { howMany } from '../domain/printable.ts'
import { Secret } from '../domain/secret.ts'
import type { ListReading } from '../sync/port.ts'

const HOUR_MS = 3_600_000
/** The pause after a 429 or 503 without a `Retry-After`. */
const PAUSE_MS = 10_000

/** Says how each list is read, and what the full read found. */
export function readingLines(readings: readonly ListReading[], { freshness }: Timed): readonly string[] {
  return readings.map((reading) => {
    const { list, rows, pages, pageRows, isEndEmpty, total, budget } = reading
    const told = total === null ? '' : `; the CRM counts ${grouped(total)}`
    const read = `The ${list} are read ${howRead(reading, freshness)}`
    if (budget === null) return `${read}: ${howMany(rows, 'row')}${told}.`
    const cost = `about ${grouped(requestsAnHour(reading, freshness))} requests an hour`
    const paged = pages < 2 ? 'one page' : `${grouped(pages)} pages, ${grouped(pageRows)} rows on page 1`
    const end = isEndEmpty ? 'with an empty page' : 'without a next page'
    return `${read}, ${cost}: ${howMany(rows, 'row')}, ${paged}${told}; the list ended ${end}.`
  })
}

/** Page sizes that APIs have by default. */
const ROUND = new Set([
  10, 15, 20, 24, 25, 30, 40, 50, 60, 75, 100, 120, 150, 200, 250, 300, 400, 500, 1000, 2000, 5000,
])

/** Warns of a list that may be only its first page, and of a maximum age that the budget or a pause does not allow. */
export function readingWarnings(readings: readonly ListReading[], timed: Timed): readonly string[] {
  const halves = readings.flatMap(({ list, rows, pages, isFirstFull, isEndEmpty, total }) => {
    const mayBeHalf = pages === 1 && !isEndEmpty && total === null && (isFirstFull || ROUND.has(rows))
    return mayBeHalf
      ? [`${list}: the whole list is one answer of exactly ${rows} rows: is it only the first page?`]
      : []
  })
  return [...halves, ...budgetWarnings(readings, timed)]
}

function budgetWarnings(readings: readonly ListReading[], { freshness }: Timed): readonly string[] {
  const [budget] = readings.flatMap((reading) => reading.budget ?? [])
  if (budget === undefined) return []
  const needed = readings.reduce((sum, reading) => sum + requestsAnHour(reading, freshness), 0)
  const allowed = Math.floor((budget.most * HOUR_MS) / budget.perMs)
  const { maxAgeMs } = freshness
  return [
    ...(needed > allowed
      ? [
          `both lists need about ${grouped(needed)} requests an hour, and the budget allows ${grouped(allowed)}: raise requests, or freshness.maxAge and freshness.refreshEvery`,
        ]
      : []),
    ...(maxAgeMs > 0 && maxAgeMs <= PAUSE_MS
      ? [
          `a 429 or 503 without Retry-After costs a pause of ${PAUSE_MS / 1000} s, which is too long for freshness.maxAge`,
        ]
      : []),
  ]
}

/** Names the secrets of the CRM and their sources, never their values; `null` if there are none. */
export function secretsLine({ crm }: Pick<Configuration, 'crm'>): string | null {
  const named = secretsAt(crm, 'crm').map(([key, { from }]) => `${key}, from ${from}`)
  return named.length === 0 ? null : `Secrets: ${named.join('; ')}.`
}

function secretsAt(value: unknown, key: string): readonly (readonly [string, Secret])[] {
  if (value instanceof Secret) return value.isReferred ? [[key, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => secretsAt(inner, `${key}.${name}`))
}

type Freshness = Pick<Configuration['freshness'], 'maxAgeMs' | 'refreshEveryMs' | 'fullReadEveryMs'>
type Timed = { readonly freshness: Freshness }

function howRead({ ways, updatedAt }: ListReading, freshness: Freshness): string {
  const full = `in full every ${span(freshness.fullReadEveryMs)}`
  const compared = span(comparedEveryMs(freshness))
  if (ways.has('since') && ways.has('ids')) return `by changes of ${updatedAt}, all ids every ${compared}, ${full}`
  if (ways.has('since')) return `by changes of ${updatedAt}, in full every ${compared}`
  if (ways.has('changes')) return `by the changes that the CRM reports, ${full}`
  return `in full every ${span(freshness.refreshEveryMs)}`
}

function requestsAnHour({ ways, pages, isEndEmpty }: ListReading, freshness: Freshness): number {
  const full = pages + Number(isEndEmpty)
  const refreshes = HOUR_MS / freshness.refreshEveryMs
  const inFull = (HOUR_MS / freshness.fullReadEveryMs) * full
  const isBySince = ways.has('since')
  const compared = isBySince ? (HOUR_MS / comparedEveryMs(freshness)) * full : 0
  return Math.round(isBySince || ways.has('changes') ? refreshes + compared + inFull : refreshes * full)
}

/** Returns the interval of comparing all rows of a list that is read by changes: half the maximum age. */
function comparedEveryMs({ maxAgeMs, refreshEveryMs }: Freshness): number {
  return Math.max(maxAgeMs / 2, refreshEveryMs)
}

function span(ms: number): string {
  if (ms < 120_000) return `${ms / 1000} s`
  return ms < 2 * HOUR_MS ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / HOUR_MS)} h`
}

function grouped(count: number): string {
  return count.toLocaleString('en')
}
