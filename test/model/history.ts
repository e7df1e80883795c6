import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import type { Chance } from './chance.ts'
import { endsWithSeason, guidOf } from './records.ts'
import type { Setting } from './setting.ts'
import type { Story } from './story.ts'
import type { Commit, Table } from './table.ts'
import { updatedAtOf } from './table.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The normal life of the CRM: editors, box offices, imports. Each change is a separate commit. */
export class History {
  changes = 0
  readonly #events: Table
  readonly #venues: Table
  readonly #setting: Setting
  readonly #time: VirtualTime
  readonly #chance: Chance
  #active = true

  constructor(events: Table, venues: Table, setting: Setting, time: VirtualTime, chance: Chance) {
    this.#events = events
    this.#venues = venues
    this.#setting = setting
    this.#time = time
    this.#chance = chance
  }

  begin(): void {
    for (let number = 0; number < this.#setting.venues; number++) {
      this.#venues.create(guidOf(0x1000 + number), EMPTY_GUID, this.#told(this.#venues))
    }
    for (let number = 0; number < this.#setting.events; number++) {
      this.#events.create(guidOf(number + 1), this.#anyVenue(), this.#told(this.#events))
    }
    this.#next()
    if (this.#setting.seasonMs > 0) this.#endSeason()
  }

  end(): void {
    this.#active = false
  }

  #next(): void {
    this.#time.inTheWorld(this.#chance.span(this.#setting.changeEveryMs), () => {
      if (!this.#active) return
      this.changes++
      this.#happen()
      this.#next()
    })
  }

  /** Most events are over: the view of coming events no longer has them, and only their absence shows it. */
  #endSeason(): void {
    const { seasonMs, strategy } = this.#setting
    this.#time.inTheWorld(seasonMs - (this.#time.trueMs % seasonMs), () => {
      if (!this.#active) return
      const silent = strategy === 'token-delta'
      for (const story of this.#events.shown().filter(({ id }) => endsWithSeason(id))) {
        const commit = { at: this.#time.trueMs, untold: true, lateByMs: 0, silent }
        this.#events.change(story, { exists: false, shown: false }, commit)
      }
      this.#endSeason()
    })
  }

  #happen(): void {
    const chance = this.#chance
    if (this.#setting.garbles && chance.happens(0.1)) return this.#break(chance.pick([this.#events, this.#venues]))
    const isDiluted = [this.#events, this.#venues].some(hasManyOthers)
    // No row comes or goes then.
    const roll = chance.next() * (isDiluted ? 0.56 : 1)
    if (roll < 0.25) this.#sell()
    else if (roll < 0.4) this.#touch(this.#events)
    else if (roll < 0.48) this.#touch(this.#venues)
    else if (roll < 0.56) this.#relink()
    else if (roll < 0.64) this.#toggle(this.#events)
    else if (roll < 0.68) this.#toggle(this.#venues)
    else if (roll < 0.8) this.#deleteOrRecreate(this.#events)
    else if (roll < 0.86) this.#deleteOrRecreate(this.#venues)
    else if (roll < 0.91) this.#createVenueWithEvent()
    else if (roll < 0.96) this.#swapPair()
    else this.#deleteVenueAfterItsEvents()
  }

  #sell(): void {
    const story = this.#pick(this.#events.shown())
    if (story === null) return
    const apart = this.#setting.readsTickets
    // If tickets are also read by themselves, a sale need not change the row's updatedAt.
    const untold = this.#chance.happens(apart ? 0.9 : 0.3)
    const told = this.#told(this.#events, story)
    const silent = told.silent || (untold && !apart && this.#setting.strategy !== 'full-read')
    this.#events.sell(story, { ...told, untold, silent })
  }

  #touch(table: Table): void {
    const story = this.#pick(table.shown())
    if (story !== null) table.change(story, {}, this.#anyhow(table, story))
  }

  #relink(): void {
    const story = this.#pick(this.#events.shown())
    if (story === null) return
    this.#events.change(story, { venue: this.#anyVenue() }, this.#anyhow(this.#events, story))
  }

  #toggle(table: Table): void {
    const story = this.#pick([...table.stories.values()].filter(({ state }) => state?.exists === true))
    if (story === null) return
    const before = story.state
    // The CRM reports a broken row like any other, so the change is not one of presence.
    const isPresence = !table.broken.has(story.id)
    table.change(story, { shown: before?.shown !== true }, this.#anyhow(table, story, isPresence))
    // If the row returns with an old updatedAt, an id scan only notices it if it ran in between.
    if (this.#setting.strategy !== 'time-delta' || before?.shown !== false) return
    const alike = story.states
      .slice(0, -1)
      .find(({ shown, updatedAtS }) => shown && updatedAtS === story.state?.updatedAtS)
    if (alike !== undefined) story.hush(alike.epoch)
  }

  /** Writes something unreadable into a row. */
  #break(table: Table): void {
    const story = this.#pick(table.shown())
    if (story === null || table.garbled.size > 0 || table.broken.size > 3) return
    table.change(story, { shown: false }, this.#told(table, story))
    table.broken.add(story.id)
  }

  #deleteOrRecreate(table: Table): void {
    const gone = this.#gone(table)
    if (gone.length > 0 && this.#chance.happens(gone.length / 8)) {
      const story = this.#pick(gone)
      if (story !== null) table.create(story.id, this.#anyVenue(), this.#told(table, story))
    } else {
      const story = this.#pick(table.shown())
      if (story !== null) table.change(story, { exists: false, shown: false }, this.#told(table, story))
    }
  }

  #createVenueWithEvent(): void {
    const story = this.#pick(this.#gone(this.#venues))
    if (story === null) return
    this.#venues.create(story.id, EMPTY_GUID, this.#told(this.#venues, story))
    const gone = this.#pick(this.#gone(this.#events))
    const event = this.#pick(this.#events.shown())
    if (gone !== null && this.#chance.happens(0.5)) {
      this.#events.create(gone.id, story.id, this.#told(this.#events, gone))
    } else if (event !== null) {
      this.#events.change(event, { venue: story.id }, this.#told(this.#events, event))
    }
  }

  /** One transaction removes a pair, the next one adds a pair. */
  #swapPair(): void {
    const event = this.#pick(this.#events.shown())
    const venue = event === null ? undefined : this.#venues.stories.get(event.state?.venue ?? EMPTY_GUID)
    if (event === null || venue?.state?.shown !== true) return
    this.#events.change(event, { exists: false, shown: false }, this.#told(this.#events, event))
    this.#venues.change(venue, { exists: false, shown: false }, this.#told(this.#venues, venue))
    this.#time.inTheWorld(this.#chance.span(this.#setting.latencyMs), () => {
      if (this.#active) this.#createVenueWithEvent()
    })
  }

  #deleteVenueAfterItsEvents(): void {
    const venue = this.#pick(this.#venues.shown())
    if (venue === null) return
    for (const event of this.#events.shown()) {
      if (event.state?.venue !== venue.id) continue
      this.#events.change(event, { exists: false, shown: false }, this.#told(this.#events, event))
    }
    this.#venues.change(venue, { exists: false, shown: false }, this.#told(this.#venues, venue))
  }

  /**
   * Returns rows that may be created again: not within the second of their last change, which an updatedAt in seconds
   * could not distinguish.
   */
  #gone(table: Table): Story[] {
    const nowS = Math.floor(this.#time.trueMs / 1000)
    return [...table.stories.values()].filter(({ state }) => state?.exists === false && state.updatedAtS < nowS)
  }

  #anyVenue(): Guid {
    if (this.#chance.happens(0.1)) return EMPTY_GUID
    return guidOf(0x1000 + this.#chance.below(this.#setting.venues))
  }

  #pick(stories: readonly Story[]): Story | null {
    return stories.length === 0 ? null : this.#chance.pick(stories)
  }

  /** Returns a commit that the CRM reports, unless its rights hide the row. */
  #told(table: Table, story?: Story): Commit {
    const hidden = table.visible !== null && story !== undefined && !table.visible.has(story.id)
    const silent = hidden && this.#setting.strategy === 'token-delta'
    return { at: this.#time.trueMs, untold: false, lateByMs: 0, silent }
  }

  /** Returns any kind of commit: one that does not change updatedAt, or one that comes minutes late. */
  #anyhow(table: Table, story: Story, isPresence = false): Commit {
    const told = this.#told(table, story)
    const { strategy, serverFilters } = this.#setting
    // Not within a second in which the row already has an updatedAt: the next commit would have the same.
    const isAlone = (story.state?.updatedAtS ?? 0) < Math.floor(told.at / 1000)
    if (strategy === 'time-delta' && isAlone && this.#chance.happens(0.15)) {
      // Committed late, or with the time of a clock that is ahead or in another zone.
      const lateByMs = this.#chance.between(30_000, 300_000) * (this.#chance.happens(0.2) ? -1 : 1)
      const updatedAtS = updatedAtOf({ at: told.at, lateByMs })
      // An updatedAt that the row had before may reveal nothing, unless the row appears or disappears with it.
      const isOld = story.states.some((state) => state.updatedAtS === updatedAtS)
      return { ...told, lateByMs, silent: isOld && !(isPresence && serverFilters) }
    }
    if (!this.#chance.happens(0.15)) return told
    // An id scan sees a row appear and disappear regardless of updatedAt. A full read sees everything.
    const seenAnyway = strategy === 'full-read' || (strategy === 'time-delta' && isPresence && serverFilters)
    return { ...told, untold: true, silent: told.silent || !seenAnyway }
  }
}

/** Returns true if the rows that became unreadable may soon be the minority, which the shrink guard would believe. */
function hasManyOthers(table: Table): boolean {
  const shown = table.shown()
  return table.garbled.size > 0 && shown.filter(({ id }) => table.garbled.has(id)).length * 10 < shown.length * 7
}
