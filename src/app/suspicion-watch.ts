import type { Configuration } from '../config/configuration.ts'
import type { ListSuspicions } from '../crm/mapping/suspicions.ts'
import { type Suspicion, isOnPurpose } from '../domain/withheld.ts'
import type { ListName } from '../domain/field.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import type { EitherList, ServedLists } from '../sync/served-list.ts'
import { systemTime } from '../time/time.ts'
import type { StatusOptions } from '../operations/status.ts'
import { suspicionSaid } from '../faults/fault-words.ts'
import { unmatchedVenues } from '../faults/venue-references.ts'

/**
 * Collects the suspicions about both lists after each read. Logs each kind once, until a full read no longer finds it.
 */
export class SuspicionWatch {
  /** The suspicions of each list, for the dashboard. */
  readonly found: Record<ListName, readonly Suspicion[]> = { events: [], venues: [] }
  /** By list, the last time at which a read withheld a row by mistake that it had not withheld before; monotonic ms. */
  readonly mistakenAtMs: Record<ListName, number> = { events: -Infinity, venues: -Infinity }
  readonly #warnings = new Set<string>()
  /** The part of `found.events` about VenueIds that match no venue. */
  #unmatched: readonly Suspicion[] = []
  #venuesAre: 'to be compared' | 'compared now' | 'compared' = 'to be compared'
  #wereCompared = false
  #hadNoVenues = true
  readonly #settings: Pick<Configuration, 'crm' | 'isTimeZoneSet'>
  readonly #suspicions: ListSuspicions
  readonly #observe: Observe

  constructor(settings: Pick<Configuration, 'crm' | 'isTimeZoneSet'>, suspicions: ListSuspicions, observe: Observe) {
    this.#settings = settings
    this.#suspicions = suspicions
    this.#observe = observe
  }

  /** The number of dates without an offset, and the zone they are read in. */
  get zone(): StatusOptions['watched']['zone'] {
    const { crm, isTimeZoneSet } = this.#settings
    const datesWithoutOffset = this.#dates('events') + this.#dates('venues')
    return { name: crm.timeZone.id, set: isTimeZoneSet, datesWithoutOffset }
  }

  note(observation: Observation, lists: ServedLists): void {
    if (observation.kind !== 'read-ended') return
    const { outcome, kind, rows, newlyWithheld } = observation.read
    const list = observation.read.list === 'venues' ? 'venues' : 'events'
    if (newlyWithheld.some((count) => !isOnPurpose(count))) this.mistakenAtMs[list] = systemTime.now().monotonicMs
    if (outcome !== 'ok' || kind === 'availability') return
    const isEmptied = rows === 0 && this.found[list].length > 0 && isEmpty(lists[list])
    const hasNoVenues = isEmpty(lists.venues)
    if (rows > 0 || isEmptied || hasNoVenues !== this.#hadNoVenues) this.#venuesAre = 'to be compared'
    this.#hadNoVenues = hasNoVenues
    if (isEmptied && list === 'events') this.#unmatched = []
    // A new event may refer to a new venue, which the next read of the venues brings.
    if (list === 'venues' || !this.#wereCompared) void this.#compareVenues(lists)
    if (rows === 0 && !isEmptied) return
    if (kind === 'full' && rows > 0) this.#suspicions[list].judge(rows)
    const found = isEmptied ? [] : this.#suspicions[list].list((id) => lists[list].list.serves(id)).map(suspicionSaid)
    this.found[list] = list === 'events' ? [...found, ...this.#unmatched] : found
    if (kind === 'full') this.#forgetOthers(list)
    this.#tell(list)
    const { crm, isTimeZoneSet: isSet } = this.#settings
    const count = this.#dates(list)
    if (count > 0 && this.#isNew(`${list} zone`)) {
      this.#observe({ kind: 'wall-times', list, zone: crm.timeZone.id, isSet, count })
    }
  }

  async #compareVenues(lists: ServedLists): Promise<void> {
    while (this.#venuesAre === 'to be compared' && lists.events.isLoaded && lists.venues.isLoaded) {
      this.#venuesAre = 'compared now'
      const unmatched = await unmatchedVenues(lists, this.#suspicions)
      this.#wereCompared = true
      const before = new Set(this.#unmatched)
      const whats = new Set(unmatched.map(({ what }) => what))
      for (const { column, what } of before) if (!whats.has(what)) this.#warnings.delete(`events ${column} ${what}`)
      this.#unmatched = unmatched
      this.found.events = [...this.found.events.filter((suspicion) => !before.has(suspicion)), ...unmatched]
      this.#tell('events')
      if (this.#venuesAre === 'compared now') this.#venuesAre = 'compared'
    }
  }

  #tell(list: ListName): void {
    for (const { column, what, count, where } of this.found[list]) {
      if (this.#isNew(`${list} ${column} ${what}`))
        this.#observe({ kind: 'suspicious', list, column, what, count, where })
    }
  }

  #dates(list: ListName): number {
    return [...this.#suspicions[list].wallDates.values()].reduce((sum, count) => sum + count, 0)
  }

  #forgetOthers(list: ListName): void {
    const found = new Set(this.found[list].map(({ column, what }) => `${list} ${column} ${what}`))
    for (const key of this.#warnings)
      if (key.startsWith(`${list} `) && key !== `${list} zone` && !found.has(key)) this.#warnings.delete(key)
  }

  #isNew(key: string): boolean {
    const { size } = this.#warnings
    return this.#warnings.add(key).size > size
  }
}

function isEmpty({ list }: EitherList): boolean {
  return list.served + list.withheldInAll === 0
}
