import { type DateTime, type Instant, type Wall, writeDateTime } from './date-time.ts'
import windowsZones from './windows-zones.json' with { type: 'json' }

/** A period with one UTC offset, from `from` to before `until`, in epoch seconds. Either end may be infinite. */
interface Span {
  readonly from: number
  readonly until: number
  readonly offsetSeconds: number
}

/** Returns the zone of an IANA name or alias, in any case. `null` for any other text, including a bare offset. */
export function openZone(id: string): Zone | null {
  // Temporal accepts `+01:00` as a zone, but an operator who writes it has most likely forgotten summer time.
  if (!/^[a-z]/i.test(id)) return null
  try {
    // Temporal normalizes the spelling: `europe/london` becomes `Europe/London`.
    return new Zone(new Temporal.ZonedDateTime(0n, id).timeZoneId)
  } catch (cause) {
    if (cause instanceof RangeError) return null
    throw new Error(`the time zone ${id} cannot be opened`, { cause })
  }
}

/**
 * Returns the instant of a wall time in a zone. A time that occurs twice means the earlier instant; a skipped time
 * takes the offset before the gap (RFC 5545 §3.3.5, Temporal's `compatible`).
 */
export function instantOfWall(wall: Wall, zone: Zone): Instant {
  // Every offset is shorter than a day, so this span is never later than the right one.
  let span = zone.spanAt(wall.seconds - SECONDS_PER_DAY)
  for (;;) {
    const epochSeconds = wall.seconds - span.offsetSeconds
    if (epochSeconds < span.until) return { epochSeconds, ticks: wall.ticks }
    const next = zone.spanAt(span.until)
    const isInGap = wall.seconds - next.offsetSeconds < span.until
    if (isInGap) return { epochSeconds, ticks: wall.ticks }
    span = next
  }
}

/** Returns an instant as the zone's clocks show it; `null` outside the years 1 to 9999 (contract §2). */
export function showInstant(instant: Instant, zone: Zone): DateTime | null {
  // The offset is cut to whole minutes and the wall time is computed from it, so the text names the same instant
  // (contract §2).
  const offsetMinutes = Math.trunc(zone.offsetSecondsAt(instant.epochSeconds) / 60)
  return writeDateTime({ seconds: instant.epochSeconds + offsetMinutes * 60, ticks: instant.ticks }, offsetMinutes)
}

const SECONDS_PER_DAY = 86_400

// Node 24 has no Temporal. Where it exists, loading the polyfill would waste 30 ms.
const { Temporal } = 'Temporal' in globalThis ? globalThis : await import('temporal-polyfill')

/**
 * A time zone of the runtime's IANA database. It caches each span: a question to Temporal takes up to a millisecond.
 */
export class Zone {
  /** The runtime's spelling; an alias stays an alias. */
  readonly id: string
  /** Sorted, with gaps where no date has been looked up yet. At most two spans for each year that occurs in the CRM. */
  readonly #spans: Span[] = []
  #last: Span

  constructor(id: string) {
    this.id = id
    this.#last = this.#learn(0)
  }

  /** Returns the offset ahead of UTC, exact to the second: local mean times are rarely whole minutes. */
  offsetSecondsAt(epochSeconds: number): number {
    return this.spanAt(epochSeconds).offsetSeconds
  }

  /** Returns the span that contains a second. */
  spanAt(epochSeconds: number): Span {
    const last = this.#last
    if (epochSeconds >= last.from && epochSeconds < last.until) return last
    const found = this.#spans[this.#countFrom(epochSeconds) - 1]
    this.#last = found !== undefined && epochSeconds < found.until ? found : this.#learn(epochSeconds)
    return this.#last
  }

  /** Returns the number of spans that begin at or before a second. */
  #countFrom(epochSeconds: number): number {
    let low = 0
    let high = this.#spans.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#spans[middle]?.from ?? Infinity) <= epochSeconds) low = middle + 1
      else high = middle
    }
    return low
  }

  #learn(epochSeconds: number): Span {
    const nanoseconds = BigInt(epochSeconds) * 1_000_000_000n
    const at = new Temporal.ZonedDateTime(nanoseconds, this.id)
    // One nanosecond later: `previous` is exclusive, and the change may be at this very second.
    const before = new Temporal.ZonedDateTime(nanoseconds + 1n, this.id).getTimeZoneTransition('previous')
    const after = at.getTimeZoneTransition('next')
    const span: Span = {
      from: before === null ? -Infinity : before.epochMilliseconds / 1000,
      until: after === null ? Infinity : after.epochMilliseconds / 1000,
      offsetSeconds: at.offsetNanoseconds / 1_000_000_000,
    }
    this.#spans.splice(this.#countFrom(epochSeconds), 0, span)
    return span
  }
}

/**
 * IANA time zones by the Windows registry's names, for no particular territory. Generated from windowsZones.json
 * (territory 001) of Unicode CLDR 48, as in the npm package cldr-core 48.2.0: © 2004-2026 Unicode,
 * Inc., Unicode License v3 (windows-zones.LICENSE).
 */
export const WINDOWS_ZONES: ReadonlyMap<string, string> = new Map(Object.entries(windowsZones))

const MOST_NAMES = 1000
/** Longer than twice any zone's name. */
const LONGEST_NAME = 100
const opened = new Map<string, Zone>()
/** Texts that name no zone, apart from the zones: a CRM may have any number of them. */
const strange = new Set<string>()

/** Returns the zone that a cell names; `null` if it names none. */
export function zoneNamedBy(cell: unknown): Zone | null {
  return typeof cell === 'string' ? openNamedZone(cell.trim()) : null
}

/** Opens the zone of an IANA or Windows name; `null` if it is neither. Names are cached, as every row asks. */
export function openNamedZone(name: string): Zone | null {
  if (name.length > LONGEST_NAME) return null
  const known = opened.get(name)
  if (known !== undefined) return known
  if (strange.has(name)) return null
  const zone = openZone(WINDOWS_ZONES.get(name) ?? name)
  // No CRM has more zones; a CRM with a thousand spellings of a name must not fill the memory.
  if (zone !== null && opened.size < MOST_NAMES) opened.set(name, zone)
  if (zone === null && strange.size < MOST_NAMES) strange.add(name)
  return zone
}
