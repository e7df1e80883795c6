import { type DateTime, type Instant, type Wall, writeDateTime } from './date-time.ts'
import windowsZones from './windows-zones.json' with { type: 'json' }
import { type ZoneChanges, changesOf, zoneNameOf } from './zone-data.ts'

/** A period with one UTC offset, from `from` to before `until`, in epoch seconds. Either end may be infinite. */
interface Span {
  readonly from: number
  readonly until: number
  readonly offsetSeconds: number
}

/** Returns the zone of an IANA name or alias, in any case. `null` for any other text, including a bare offset. */
export function openZone(name: string): Zone | null {
  const id = zoneNameOf(name)
  return id === null ? null : new Zone(id, changesOf(id))
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

/** The Gregorian calendar repeats after 400 years, with the days of the week. */
const CYCLE_SECONDS = 146_097 * SECONDS_PER_DAY

/** The data ends with the year 2499. A zone that still changes its clocks after this moment does so for ever. */
const FOR_EVER_FROM = Date.UTC(2400, 0) / 1000

/** A time zone. It keeps the last span, because dates of one read are often near each other. */
export class Zone {
  /** The database's spelling; an alias stays an alias. */
  readonly id: string
  readonly #changes: ZoneChanges
  /** The moment from which the changes of the last 400 years are repeated. */
  readonly #repeatsFrom: number
  #last: Span

  constructor(id: string, changes: ZoneChanges) {
    this.id = id
    this.#changes = changes
    const last = changes.untils.at(-2) ?? -Infinity
    this.#repeatsFrom = last < FOR_EVER_FROM ? Infinity : last
    this.#last = this.#find(0)
  }

  /** Returns the offset ahead of UTC, exact to the second: local mean times are rarely whole minutes. */
  offsetSecondsAt(epochSeconds: number): number {
    return this.spanAt(epochSeconds).offsetSeconds
  }

  /** Returns the span that contains a second. */
  spanAt(epochSeconds: number): Span {
    const last = this.#last
    if (epochSeconds >= last.from && epochSeconds < last.until) return last
    this.#last = this.#find(epochSeconds)
    return this.#last
  }

  #find(epochSeconds: number): Span {
    const past = epochSeconds - this.#repeatsFrom
    const shift = past < 0 ? 0 : (Math.floor(past / CYCLE_SECONDS) + 1) * CYCLE_SECONDS
    const { untils, offsets } = this.#changes
    let low = 0
    let high = untils.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((untils[middle] ?? Infinity) <= epochSeconds - shift) low = middle + 1
      else high = middle
    }
    return {
      from: low === 0 ? -Infinity : (untils[low - 1] ?? 0) + shift,
      until: (untils[low] ?? Infinity) + shift,
      offsetSeconds: offsets[low] ?? 0,
    }
  }
}

/**
 * IANA time zones by the Windows registry's names, for no particular territory. Generated from windowsZones.json
 * (territory 001) of Unicode CLDR 48, as in the npm package cldr-core 48.2.0: © 2004-2026 Unicode,
 * Inc., Unicode License v3 (windows-zones.LICENSE).
 */
export const WINDOWS_ZONES: ReadonlyMap<string, string> = new Map(Object.entries(windowsZones))

/** `UTC+2`, `GMT-03:30`, `UTC+5.5`, `+02:00`, `-0330`: hours ahead of UTC, with minutes or a decimal fraction. */
const OFFSET = /^(?:UTC|GMT)? ?([+\u2212\u00b1-])(?=\d(?!\d\d$))(\d{1,2})(?::?([0-5]\d)|[.,](00?|25|50?|75))?$/i
/** The offsets in use are from -12:00 to +14:00. */
const LEAST_MINUTES = -720
const MOST_MINUTES = 840

/**
 * Opens a zone that never changes its clocks, by its offset from UTC; `null` if the text is no offset. `GMT+2` is ahead
 * of UTC, unlike IANA's `Etc/GMT+2`: people and WordPress mean it so.
 */
function openOffset(written: string): Zone | null {
  const match = /^Z$/i.test(written) ? ['', '+', '0'] : OFFSET.exec(written)
  if (match === null) return null
  const [, sign = '+', hours = '', minutes = '0', fraction = '0'] = match
  const magnitude = Number(hours) * 60 + Number(minutes) + Number(`0.${fraction}`) * 60
  const ahead = sign === '-' || sign === '\u2212' ? -magnitude : magnitude
  if (!Number.isInteger(ahead) || ahead < LEAST_MINUTES || ahead > MOST_MINUTES) return null
  const [hour, minute] = [Math.floor(magnitude / 60), magnitude % 60].map((value) => String(value).padStart(2, '0'))
  const shown = `${ahead < 0 ? '-' : '+'}${hour}:${minute}`
  return new Zone(`UTC${shown}`, { untils: Float64Array.of(Infinity), offsets: Int32Array.of(ahead * 60) })
}

const MOST_NAMES = 1000
/** Longer than twice any zone's name. */
const LONGEST_NAME = 100
const opened = new Map<string, Zone>()
/** Texts that name no zone, apart from the zones: a CRM may have any number of them. */
const strange = new Set<string>()

/** Returns the zone that a cell names, by its name or offset, or `listZone` if it is blank; `null` if it names none. */
export function zoneNamedBy(cell: unknown, listZone: Zone): Zone | null {
  const name = cell === null ? '' : cell
  if (typeof name !== 'string') return null
  return name.trim() === '' ? listZone : openNamedZone(name.trim())
}

/** Opens the zone of an IANA or Windows name, or of an offset; `null` if it is none. Names are cached, as every row asks. */
export function openNamedZone(name: string): Zone | null {
  if (name.length > LONGEST_NAME) return null
  const known = opened.get(name)
  if (known !== undefined) return known
  if (strange.has(name)) return null
  const zone = openZone(WINDOWS_ZONES.get(name) ?? name) ?? openOffset(name)
  // No CRM has more zones; a CRM with a thousand spellings of a name must not fill the memory.
  if (zone !== null && opened.size < MOST_NAMES) opened.set(name, zone)
  if (zone === null && strange.size < MOST_NAMES) strange.add(name)
  return zone
}
