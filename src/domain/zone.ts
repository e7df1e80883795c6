import { type DateTime, type Instant, type Wall, writeDateTime } from './date-time.ts'

/** From `from` on, and until before `until`, a zone's offset is this; both are infinite at the ends of time. */
interface Span {
  readonly from: number
  readonly until: number
  readonly offsetSeconds: number
}

/** The zone of an IANA name, in any case, aliases too; null for any other text, a bare offset too. */
export function openZone(id: string): Zone | null {
  // Temporal takes `+01:00` for a zone; an operator who writes it has most likely forgotten about summer time.
  if (!/^[a-z]/i.test(id)) return null
  try {
    // Temporal's own spelling: `europe/london` becomes `Europe/London`.
    return new Zone(new Temporal.ZonedDateTime(0n, id).timeZoneId)
  } catch (cause) {
    if (cause instanceof RangeError) return null
    throw new Error(`the time zone ${id} cannot be opened`, { cause })
  }
}

/**
 * The instant a wall time means in a zone: of two, where clocks went back, the earlier; where they went forward over
 * it, the one by the offset before (RFC 5545 §3.3.5, Temporal's `compatible`).
 */
export function instantOfWall(wall: Wall, zone: Zone): Instant {
  // No offset reaches a day, so this span is not after the one sought.
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

/** An instant as a zone's clocks show it; null where the year there is not one of 1 to 9999 (contract §2). */
export function showInstant(instant: Instant, zone: Zone): DateTime | null {
  // Whole minutes, cut, and the wall time follows: the text still names the very same instant (contract §2).
  const offsetMinutes = Math.trunc(zone.offsetSecondsAt(instant.epochSeconds) / 60)
  return writeDateTime({ seconds: instant.epochSeconds + offsetMinutes * 60, ticks: instant.ticks }, offsetMinutes)
}

const SECONDS_PER_DAY = 86_400

// Node 24 does not have Temporal, and elsewhere loading the polyfill would cost 30 ms for nothing.
const { Temporal } = 'Temporal' in globalThis ? globalThis : await import('temporal-polyfill')

/**
 * A time zone of the IANA database as the runtime knows it. Temporal is asked once for each span that is met, which is
 * remembered: a question costs up to a millisecond, a span nothing.
 */
export class Zone {
  /** As the runtime spells it; an alias stays the alias. */
  readonly id: string
  /** Sorted, with holes where nobody has asked yet. At most two for each year that a CRM's dates reach. */
  readonly #spans: Span[] = []
  #last: Span

  constructor(id: string) {
    this.id = id
    this.#last = this.#learn(0)
  }

  /** What its clocks are ahead of UTC, to the second: local mean times are whole minutes only by chance. */
  offsetSecondsAt(epochSeconds: number): number {
    return this.spanAt(epochSeconds).offsetSeconds
  }

  /** The stretch of unchanged offset that holds a second. */
  spanAt(epochSeconds: number): Span {
    const last = this.#last
    if (epochSeconds >= last.from && epochSeconds < last.until) return last
    const found = this.#spans[this.#countFrom(epochSeconds) - 1]
    this.#last = found !== undefined && epochSeconds < found.until ? found : this.#learn(epochSeconds)
    return this.#last
  }

  /** How many of the spans begin at or before a second. */
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
    // A nanosecond later, because `previous` is strictly before and the change may be this very second's.
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
