import type { Guid } from '../../src/domain/guid.ts'
import type { Replica } from '../../src/sync/replica.ts'
import type { Chance } from './chance.ts'
import type { Weather } from './exchange.ts'
import type { Host } from './host.ts'
import type { ReadLog } from './read-log.ts'
import type { Setting } from './setting.ts'
import type { Story } from './story.ts'
import type { Commit, Scan, Table } from './table.ts'
import type { VirtualTime } from './virtual-time.ts'

/** More rows than one read of several moments may find absent (architecture: One moment). */
const MANY = 14

/** Causes temporary trouble: outages, throttling, lost rights, mass deletions, clock changes. */
export class Misfortune {
  strokes = 0
  readonly #setting: Setting
  readonly #weather: Weather
  readonly #tables: readonly Table[]
  readonly #host: Host
  readonly #log: ReadLog
  readonly #time: VirtualTime
  readonly #chance: Chance
  #active = true

  constructor(
    setting: Setting,
    weather: Weather,
    tables: readonly Table[],
    host: Host,
    log: ReadLog,
    time: VirtualTime,
    chance: Chance,
  ) {
    this.#setting = setting
    this.#weather = weather
    this.#tables = tables
    this.#host = host
    this.#log = log
    this.#time = time
    this.#chance = chance
  }

  begin(): void {
    const { trouble, clocks, refreshEveryMs } = this.#setting
    if (trouble === 0 && clocks === 'steady') return
    this.#time.inTheWorld(this.#chance.span(refreshEveryMs * 12), () => {
      if (!this.#active) return
      this.strokes++
      this.#strike()
      this.begin()
    })
  }

  /** Ends all trouble, now or soon. */
  end(): void {
    this.#active = false
    this.#weather.calm()
    for (const table of this.#tables) {
      table.betweenPages = null
      this.#restoreRights(table)
      this.#clear(table)
    }
  }

  #strike(): void {
    const chance = this.#chance
    const { clocks, trouble, maxAgeMs, refreshEveryMs } = this.#setting
    if (clocks !== 'steady' && chance.happens(trouble === 0 ? 1 : 0.5)) {
      this.#turnClock()
      return
    }
    if (this.#setting.garbles && chance.happens(0.4)) {
      this.#garble(chance.pick(this.#tables), chance.span(refreshEveryMs * 6))
      return
    }
    const roll = chance.next()
    const whileMs = chance.span(Math.max(maxAgeMs, refreshEveryMs) * 2)
    if (roll < 0.35) this.#weather.downUntilMs = this.#time.trueMs + whileMs
    else if (roll < 0.55) this.#weather.throttledUntilMs = this.#time.trueMs + Math.min(whileMs, 120_000)
    else if (roll < 0.65) this.#deleteMany(chance.pick(this.#tables), whileMs)
    else this.#loseRights(chance.pick(this.#tables), whileMs)
  }

  #turnClock(): void {
    const chance = this.#chance
    const ms = chance.pick([20, 900, 15_000, 3_600_000]) * chance.next()
    if (this.#setting.clocks === 'suspended') this.#time.suspend(Math.min(ms, 60_000))
    else this.#time.setWallClock(chance.happens(0.5) ? ms : -ms)
  }

  /** Deletes part of a list at once, between two pages of a read if there is one, and restores it later. */
  #deleteMany(table: Table, whileMs: number): void {
    if (table.visible !== null || table.betweenPages !== null || table.garbled.size > 0) return
    const commit = (): Commit => ({ at: this.#time.trueMs, untold: false, lateByMs: 0, silent: false })
    const change = (): void => {
      const gone = table.shown().filter(() => this.#chance.happens(0.4))
      for (const story of gone) table.change(story, { exists: false, shown: false }, commit())
      const restore = (): void => {
        if (!this.#active || table.visible !== null) return
        // Rows that come back would make those that became unreadable the minority.
        if (table.garbled.size > 0) return this.#time.inTheWorld(1000, restore)
        for (const { id, state } of gone) if (state?.exists === false) table.create(id, state.venue, commit())
      }
      this.#time.inTheWorld(Math.max(2000, whileMs), restore)
    }
    this.#between(table, this.#chance.happens(0.8), () => true, change)
  }

  /**
   * Hides all but a few rows, mostly between two pages of a read. Later they return, or the operator accepts the
   * shorter list.
   */
  #loseRights(table: Table, whileMs: number): void {
    if (table.visible !== null || table.betweenPages !== null || table.garbled.size > 0) return
    const list = this.#listOf(table)
    // Two reads that were cut short in the same way would agree.
    const hasRecovered = (): boolean => (this.#log.completeMs.get(table.name) ?? 0) > table.restoredMs
    // Sometimes so late in a read that the guard would not hold it.
    const cutsLate = this.#chance.happens(0.5)
    const isShort = this.#rowsOf(table) < MANY
    const isFit = (scan: Scan | null): boolean => {
      const unseen = table.shown().filter(({ id }) => scan !== null && id > scan.after && isUnseen(list, id, scan))
      // With fewer rows of a long list the guard might not hold, and it lets the last of several rows go.
      const { served } = list.list
      const isMany = isShort
        ? scan === null && served >= Math.min(2, this.#rowsOf(table))
        : Math.min(table.shown().length, served) >= 24
      const isInTime = scan === null || (unseen.length >= MANY && (!cutsLate || unseen.length * 2 <= served))
      // An empty process believes the first read, whatever it contains.
      const outlives = list.isLoaded && (this.#setting.restartEveryMs === 0 || this.#host.hasSnapshot)
      return outlives && hasRecovered() && !list.reader.guard.acceptsShorter && isMany && isInTime
    }
    this.#between(table, this.#chance.happens(0.7), isFit, () => {
      const ageMs = list.ageMs(this.#time.peek())
      const shown = table.shown()
      const left = isShort ? (list.list.served >= 4 ? this.#chance.below(2) : 0) : this.#chance.below(4)
      table.visible = new Set(shown.slice(0, left).map((story) => story.id))
      // A process that resumes from the snapshot asks for changes since an earlier time.
      const sinceMs = Math.min(this.#time.trueMs - (ageMs ?? 0), this.#host.snapshotMs(table.name))
      if (this.#setting.strategy === 'token-delta') silence(table, sinceMs)
      this.#time.inTheWorld(whileMs, () => this.#restoreRights(table))
    })
  }

  /**
   * The format of a column changes in nearly all rows, between two reads. Later it is restored, or an operator accepts
   * it. The CRM reports each row as changed both times.
   */
  #garble(table: Table, whileMs: number): void {
    if (table.visible !== null || table.betweenPages !== null || table.garbled.size > 0) return
    const list = this.#listOf(table)
    const isFit = (scan: Scan | null): boolean => {
      const rows = this.#touchable(table).filter(({ id }) => list.list.serves(id))
      const { served, lostCount } = list.list
      // Enough rows that concurrent changes do not make the others the majority.
      const isMany = rows.length >= 22 && rows.length * 10 >= Math.max(served + lostCount, table.shown().length) * 9
      return scan === null && isMany && list.isLoaded && !list.reader.guard.acceptsShorter
    }
    this.#between(table, false, isFit, () => {
      const rows = this.#touchable(table)
      for (const story of rows.slice(0, rows.length - this.#chance.below(3))) {
        table.change(story, {}, this.#toldNow())
        table.garbled.add(story.id)
      }
      this.#time.inTheWorld(Math.max(2000, whileMs), () => this.#clear(table))
    })
  }

  /** Returns rows that can be reported as changed now: not within the second of their last updatedAt. */
  #touchable(table: Table): Story[] {
    const nowS = Math.floor(this.#time.trueMs / 1000)
    return table.shown().filter(({ states }) => states.every(({ updatedAtS }) => updatedAtS !== nowS))
  }

  #toldNow(): Commit {
    return { at: this.#time.trueMs, untold: false, lateByMs: 0, silent: false }
  }

  #clear(table: Table): void {
    if (table.garbled.size === 0) return
    const isTouchable = (): boolean => {
      const touchable = new Set(this.#touchable(table).map(({ id }) => id))
      return table.shown().every(({ id }) => !table.garbled.has(id) || touchable.has(id))
    }
    table.betweenPages = null
    this.#between(
      table,
      false,
      (scan) => scan === null && isTouchable(),
      () => {
        const isRight = this.#active && this.#chance.happens(0.3)
        for (const story of table.shown().filter(({ id }) => table.garbled.has(id))) {
          table.change(story, isRight ? { shown: false } : {}, this.#toldNow())
          if (isRight) table.broken.add(story.id)
        }
        table.garbled.clear()
        table.restoredMs = this.#time.trueMs
        if (isRight) this.#say(table)
      },
    )
  }

  /** Rows that return during a read hide how short its list was, so it must not have missed only a few. */
  #restoreRights(table: Table): void {
    if (table.visible === null) return
    const list = this.#listOf(table)
    const isFit = (scan: Scan | null): boolean => {
      if (scan === null) return true
      const missed = table.shown().filter(({ id }) => id <= scan.after && isUnseen(list, id, scan))
      return this.#log.shrunkMs.has(table.name) && missed.length >= MANY
    }
    table.betweenPages = null
    this.#between(table, this.#active && this.#chance.happens(0.3), isFit, () => {
      if (this.#active && this.#chance.happens(0.3)) this.#accept(table)
      else table.visible = null
      table.restoredMs = this.#time.trueMs
    })
  }

  /** Changes the CRM between two reads of the list, or between two pages of a running one. */
  #between(table: Table, prefersPages: boolean, isFit: (scan: Scan | null) => boolean, change: () => void): void {
    const { snapshot, refreshEveryMs } = this.#setting
    const attempt = (scan: Scan | null): void => {
      if (table.betweenPages !== attempt || this.#log.openOf(table.name) !== (scan === null ? 0 : 1) || !isFit(scan))
        return
      table.betweenPages = null
      change()
    }
    table.betweenPages = attempt
    const later = (afterMs: number): void =>
      this.#time.inTheWorld(afterMs, () => {
        attempt(null)
        if (table.betweenPages === attempt) later(100)
      })
    later(prefersPages && !snapshot ? 20 * refreshEveryMs : 0)
  }

  #rowsOf({ name }: Table): number {
    return this.#setting[name]
  }

  #listOf(table: Table): Replica['events'] | Replica['venues'] {
    const { events, venues } = this.#host.running.replica
    return table.name === 'events' ? events : venues
  }

  #accept(table: Table): void {
    const { visible } = table
    const at = this.#time.trueMs
    const silent = this.#setting.strategy === 'token-delta'
    for (const story of table.stories.values()) {
      if (story.state?.exists !== true || visible === null || visible.has(story.id)) continue
      table.change(story, { exists: false, shown: false }, { at, untold: false, lateByMs: 0, silent })
    }
    table.visible = null
    this.#say(table)
  }

  /** Accepts the shorter list on the operator's behalf, until a read has proved it. */
  #say(table: Table): void {
    const at = this.#time.trueMs
    let told: unknown = null
    const say = (): void => {
      const list = this.#listOf(table)
      // A process that has begun since does not know of it.
      if (told === null || (list !== told && list.shrunk !== null)) void (told = list).acceptShorter()
      if ((this.#log.completeMs.get(table.name) ?? 0) <= at)
        this.#time.after(Math.max(1000, this.#setting.maxAgeMs), say)
    }
    this.#time.after(0, say)
  }
}

/** Returns true if the row is served and will be missing from the read unless the read names it later. */
function isUnseen({ list }: Replica['events'] | Replica['venues'], id: Guid, { begunMs, named }: Scan): boolean {
  const row = list.find(id)
  return row?.isServed === true && row.seenAt < begunMs && !named.has(id)
}

/** Changes of hidden rows that a token would have reported are never reported. */
function silence({ stories, visible }: Table, sinceMs: number): void {
  for (const { id, epochs, sales } of stories.values()) {
    if (visible?.has(id) === true) continue
    for (const span of [...epochs, ...sales]) {
      if (span.to >= sinceMs && span.to < Number.POSITIVE_INFINITY) span.endedSilently = true
    }
  }
}
