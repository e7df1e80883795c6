import type { Replica } from '../../src/replica/replica.ts'
import type { Chance } from './chance.ts'
import type { Weather } from './exchange.ts'
import type { ReadLog } from './read-log.ts'
import type { Setting } from './setting.ts'
import type { Table } from './table.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Brings about what goes wrong for a while: outages, throttling, lost rights, clocks. */
export class Misfortune {
  strokes = 0
  readonly #setting: Setting
  readonly #weather: Weather
  readonly #tables: readonly Table[]
  readonly #replica: Replica
  readonly #log: ReadLog
  readonly #time: VirtualTime
  readonly #chance: Chance
  #active = true

  constructor(
    setting: Setting,
    weather: Weather,
    tables: readonly Table[],
    replica: Replica,
    log: ReadLog,
    time: VirtualTime,
    chance: Chance,
  ) {
    this.#setting = setting
    this.#weather = weather
    this.#tables = tables
    this.#replica = replica
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

  /** All is well from now on, or soon. */
  end(): void {
    this.#active = false
    this.#weather.calm()
    for (const table of this.#tables) this.#restoreRights(table)
  }

  #strike(): void {
    const chance = this.#chance
    const { clocks, trouble, boundMs, refreshEveryMs } = this.#setting
    if (clocks !== 'steady' && chance.happens(trouble === 0 ? 1 : 0.5)) {
      this.#turnClock()
      return
    }
    const roll = chance.next()
    const whileMs = chance.span(Math.max(boundMs, refreshEveryMs) * 2)
    if (roll < 0.4) this.#weather.downUntilMs = this.#time.trueMs + whileMs
    else if (roll < 0.65) this.#weather.throttledUntilMs = this.#time.trueMs + Math.min(whileMs, 120_000)
    else this.#loseRights(chance.pick(this.#tables), whileMs)
  }

  #turnClock(): void {
    const chance = this.#chance
    const ms = chance.pick([20, 900, 15_000, 3_600_000]) * chance.next()
    if (this.#setting.clocks === 'suspended') this.#time.suspend(Math.min(ms, 60_000))
    else this.#time.setWallClock(chance.happens(0.5) ? ms : -ms)
  }

  /** All but a few rows are hidden; later they are back, or the operator says that this is right. */
  #loseRights(table: Table, whileMs: number): void {
    const list = table.name === 'events' ? this.#replica.events : this.#replica.venues
    const ageMs = list.ageMs(this.#time.peek())
    const shown = table.shown()
    if (table.visible !== null || ageMs === null || list.reader.belief.acceptsShorter) return
    // Fewer than that and the brake would not be sure to hold.
    if (Math.min(shown.length, list.list.served) < 24) return
    table.visible = new Set(shown.slice(0, this.#chance.below(4)).map((story) => story.id))
    if (this.#setting.strategy === 'token-delta') silence(table, this.#time.trueMs - ageMs)
    this.#time.inTheWorld(whileMs, () => this.#restoreRights(table))
  }

  /** Not while a read is under way that saw less: what came back meanwhile would hide how short its list was. */
  #restoreRights(table: Table): void {
    if (table.visible === null) return
    if (this.#log.isReading(table.name, this.#time.trueMs)) this.#time.inTheWorld(100, () => this.#restoreRights(table))
    else if (this.#active && this.#chance.happens(0.3)) this.#accept(table)
    else table.visible = null
  }

  #accept(table: Table): void {
    const { visible } = table
    const list = table.name === 'events' ? this.#replica.events : this.#replica.venues
    const at = this.#time.trueMs
    const silent = this.#setting.strategy === 'token-delta'
    for (const story of table.stories.values()) {
      if (story.state?.exists !== true || visible === null || visible.has(story.id)) continue
      table.change(story, { exists: false, shown: false }, { at, untold: false, lateByMs: 0, silent })
    }
    table.visible = null
    this.#time.after(0, () => void list.acceptShorter())
  }
}

/** What a token would have told, had the rows not been hidden meanwhile, is never told. */
function silence({ stories, visible }: Table, sinceMs: number): void {
  for (const { id, epochs, sales } of stories.values()) {
    if (visible?.has(id) === true) continue
    for (const span of [...epochs, ...sales]) {
      if (span.to >= sinceMs && span.to < Number.POSITIVE_INFINITY) span.endedSilently = true
    }
  }
}
