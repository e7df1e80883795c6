/**
 * The IANA time zone database: names of zones, and when their clocks change. It comes from a package, because the
 * runtimes bring different releases of it, and old ones.
 */
import tzdb from 'moment-timezone/data/packed/latest.json' with { type: 'json' }

/** The release of the IANA time zone database, such as `2026f`. */
export const ZONE_DATA_VERSION: string = tzdb.version

/** The offsets of a zone, ahead of UTC, each valid before `untils` at the same index. The last `until` is infinite. */
export interface ZoneChanges {
  readonly untils: Float64Array
  readonly offsets: Int32Array
}

/** A line of the package: the name, abbreviations, offsets, an index of the offset for each period, their ends. */
const lines: ReadonlyMap<string, string> = new Map(tzdb.zones.map((line) => [line.slice(0, line.indexOf('|')), line]))
/** The zone that has the data, by each name: the name itself, or the one that it is an alias of. */
const origins = new Map(lines.keys().map((name) => [name, name]))
for (const link of tzdb.links) {
  const [origin = '', name = ''] = link.split('|')
  origins.set(name, origin)
}

/** The names of all zones, aliases included. */
export const ZONE_NAMES: readonly string[] = Array.from(origins.keys())

const spelt: ReadonlyMap<string, string> = new Map(ZONE_NAMES.map((name) => [name.toLowerCase(), name]))

/** Returns the database's spelling of a zone's name, which may be in any case; `null` if it names no zone. */
export function zoneNameOf(written: string): string | null {
  return spelt.get(written.toLowerCase()) ?? null
}

const unpacked = new Map<string, ZoneChanges>()

/** Returns the changes of a zone. Aliases share them. @param name as the database spells it */
export function changesOf(name: string): ZoneChanges {
  const line = lines.get(origins.get(name) ?? '')
  if (line === undefined) throw new Error(`the time zone database has no zone ${name}`)
  const changes = unpacked.get(line) ?? unpack(line)
  unpacked.set(line, changes)
  return changes
}

function unpack(line: string): ZoneChanges {
  const [, , written = '', indices = '', ends = ''] = line.split('|')
  // The package counts minutes behind UTC.
  const offsets = written.split(' ').map((minutes) => -secondsOf(minutes))
  let end = 0
  const untils = ends === '' ? [] : ends.split(' ').map((minutes) => (end += secondsOf(minutes)))
  return {
    untils: Float64Array.of(...untils, Infinity),
    offsets: Int32Array.from(indices, (digit) => offsets[digitOf(digit.charCodeAt(0))] ?? 0),
  }
}

/** Reads a number of minutes in base 60, which may have one fractional digit: seconds. */
function secondsOf(written: string): number {
  const isNegative = written.startsWith('-')
  const [whole = '', seconds = '0'] = written.slice(isNegative ? 1 : 0).split('.')
  let minutes = 0
  for (let at = 0; at < whole.length; at++) minutes = minutes * 60 + digitOf(whole.charCodeAt(at))
  const absolute = minutes * 60 + digitOf(seconds.charCodeAt(0))
  return isNegative ? -absolute : absolute
}

const UPPER_A = 65
const LOWER_A = 97

/** The digits are 0 to 9, a to z, A to X. */
function digitOf(code: number): number {
  if (code >= LOWER_A) return code - LOWER_A + 10
  return code >= UPPER_A ? code - UPPER_A + 36 : code - 48
}
