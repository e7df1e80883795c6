import { parseGuid } from '../../src/domain/guid.ts'
import type { Replica } from '../../src/sync/replica.ts'
import { systemTime } from '../../src/time/time.ts'
import type { Chance } from '../model/chance.ts'
import { RowHistory } from '../support/row-history.ts'
import type { Environment } from './environment.ts'
import { eventValues, idOf } from './environment.ts'

const EVENTS = 40
const IDS: readonly string[] = Array.from({ length: EVENTS }, (_, index) => idOf(index + 1))

/** What happens to the events of an environment, and what of it is served. */
export class EnvironmentHistory {
  looks = 0
  changes = 0
  readonly wrongs: string[] = []
  readonly #environment: Environment
  readonly #chance: Chance
  readonly #rows = new RowHistory()
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
    for (const id of IDS) {
      const wrong = this.#rows.check({ id, atMs: now.monotonicMs - ageMs, value: served(events, id) })
      if (wrong !== null) this.wrongs.push(wrong)
    }
  }

  /** What is not served as it is now: nothing, once all is quiet. */
  differences({ events }: Replica): readonly string[] {
    return IDS.filter((id) => served(events, id) !== this.#rows.last(id)).map(
      (id) => `${id} is served as ${served(events, id)}, and is ${this.#rows.last(id)}`,
    )
  }

  #show(number: number): void {
    const name = `Event ${number}, ${++this.#serial}`
    this.#environment.events.put(idOf(number), eventValues(number, { msevtmgt_name: name }))
    this.#become(number, name)
  }

  #become(number: number, value: string | null): void {
    this.#rows.write({ id: idOf(number), atMs: performance.now(), value })
  }
}

function served({ list }: Replica['events'], id: string): string | null {
  const guid = parseGuid(id)
  return guid === null ? null : (list.get(guid)?.Name ?? null)
}
