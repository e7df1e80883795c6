import { parseGuid } from '../../src/domain/guid.ts'
import type { Replica } from '../../src/sync/replica.ts'
import { systemTime } from '../../src/time/time.ts'
import type { Chance } from '../model/chance.ts'
import type { Environment } from './environment.ts'
import { eventValues, idOf } from './environment.ts'

/** The event as the CRM has it from `atMs` on: its serial name, null where it is not shown. */
interface State {
  readonly atMs: number
  readonly name: string | null
}

const EVENTS = 40

/** What happens to the events of an environment, and whether what is served was ever true in the time it may be of. */
export class History {
  looks = 0
  changes = 0
  readonly wrongs: string[] = []
  readonly #environment: Environment
  readonly #chance: Chance
  readonly #states = new Map<number, State[]>()
  /** The latest state of each event that was ever served. */
  readonly #seen = new Map<number, number>()
  #serial = 0

  constructor(environment: Environment, chance: Chance) {
    this.#environment = environment
    this.#chance = chance
    for (let number = 1; number <= EVENTS; number++) this.#show(number)
  }

  happen(): void {
    this.changes++
    const { events } = this.#environment
    const number = 1 + this.#chance.below(EVENTS)
    const id = idOf(number)
    if (!events.rows.has(id)) {
      this.#show(number)
      return
    }
    const roll = this.#chance.next()
    if (roll < 0.5) this.#show(number)
    else if (roll < 0.7) {
      events.remove(id)
      this.#become(number, null)
    } else {
      const hidden = this.#chance.pick([
        { statecode: 1 },
        { msevtmgt_publishstatus: 100_000_004 },
        { msevtmgt_istemplate: 100_000_001 },
      ])
      events.change(id, hidden)
      this.#become(number, null)
    }
  }

  /** Holds what is served now against what was true since the age that the list claims. */
  look({ events }: Replica): void {
    const now = systemTime.now()
    const ageMs = events.ageMs(now)
    if (ageMs === null) return
    this.looks++
    for (let number = 1; number <= EVENTS; number++) {
      const id = parseGuid(idOf(number))
      const served = id === null ? null : (events.list.get(id)?.Name ?? null)
      this.#judge(number, served, now.monotonicMs - ageMs)
    }
  }

  /** What is not served as it is now: nothing, once all is quiet. */
  differences({ events }: Replica): readonly string[] {
    const wrong: string[] = []
    for (const [number, states] of this.#states) {
      const id = parseGuid(idOf(number))
      const served = id === null ? null : (events.list.get(id)?.Name ?? null)
      const last = states.at(-1)?.name ?? null
      if (served !== last) wrong.push(`event ${number} is served as ${served}, and is ${last}`)
    }
    return wrong
  }

  #judge(number: number, served: string | null, sinceMs: number): void {
    const states = this.#states.get(number) ?? []
    let first = states.findLastIndex((state) => state.atMs <= sinceMs)
    if (first === -1) first = 0
    const possible = states.findLastIndex((state) => state.name === served)
    if (possible < first) {
      const range = states.slice(first).map(({ name }) => name)
      this.wrongs.push(`event ${number} is served as ${served}, and has been ${range.join(', ')} since ${sinceMs}`)
    }
    if (served === null) return
    const before = this.#seen.get(number) ?? -1
    if (possible < before) this.wrongs.push(`event ${number} went back to ${served}`)
    this.#seen.set(number, Math.max(before, possible))
  }

  #show(number: number): void {
    const name = `Event ${number}, ${++this.#serial}`
    this.#environment.events.put(idOf(number), eventValues(number, { msevtmgt_name: name }))
    this.#become(number, name)
  }

  #become(number: number, name: string | null): void {
    const states = this.#states.get(number) ?? []
    this.#states.set(number, states)
    states.push({ atMs: performance.now(), name })
  }
}
