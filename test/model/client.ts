import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import type { Admissions } from '../../src/replica/admission.ts'
import type { Replica } from '../../src/replica/replica.ts'
import type { Moment } from '../../src/replica/time.ts'
import type { Chance } from './chance.ts'
import type { Asked, Checker } from './checker.ts'
import { glimpseEvent, glimpseVenue } from './glimpse.ts'
import { guidOf } from './records.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A caller, who asks as the public face does: what is held is looked at only after admission. */
export class Client {
  readonly #replica: Replica
  readonly #admissions: Admissions
  readonly #checker: Checker
  readonly #time: VirtualTime
  readonly #chance: Chance
  readonly #thinkMs: number

  constructor(
    replica: Replica,
    admissions: Admissions,
    checker: Checker,
    time: VirtualTime,
    chance: Chance,
    thinkMs: number,
  ) {
    this.#replica = replica
    this.#admissions = admissions
    this.#checker = checker
    this.#time = time
    this.#chance = chance
    this.#thinkMs = thinkMs
  }

  /** Asks, thinks, asks again, for ever; now and then a burst, as a page with many pictures would. */
  live(): void {
    this.#time.after(this.#chance.span(this.#thinkMs), () => {
      const burst = this.#chance.happens(0.1) ? 5 : 1
      const asked = Array.from({ length: burst }, () => this.#ask())
      void Promise.all(asked)
        .catch((cause: unknown) => this.#checker.crash(cause))
        .then(() => this.live())
    })
  }

  async #ask(): Promise<void> {
    const { events, venues } = this.#replica
    const roll = this.#chance.next()
    if (roll < 0.4) {
      const id = guidOf(1 + this.#chance.below(64))
      const asked = this.#arrive([events])
      await this.#admit(asked, (ageMs) => this.#checker.answer(asked, ageMs, [glimpseEvent(this.#replica, id)]))
    } else if (roll < 0.6) {
      const id = guidOf(0x1000 + this.#chance.below(32))
      const asked = this.#arrive([venues])
      await this.#admit(asked, (ageMs) => this.#checker.answer(asked, ageMs, [glimpseVenue(this.#replica, id)]))
    } else {
      await this.#askEventVenue(guidOf(1 + this.#chance.below(64)))
    }
  }

  async #askEventVenue(id: Guid): Promise<void> {
    const { events, venues } = this.#replica
    const first = this.#arrive([events])
    await this.#admit(first, async (ageMs) => {
      if (this.#venueOf(id) === null) return this.#checker.answer(first, ageMs, [glimpseEvent(this.#replica, id)])
      const both = this.#arrive([events, venues])
      await this.#admit(both, (bothAgeMs) => {
        const venue = this.#venueOf(id)
        const event = glimpseEvent(this.#replica, id)
        if (venue === null) this.#checker.answer(both, bothAgeMs, [event])
        else this.#checker.answerOfTwo(both, bothAgeMs, event, glimpseVenue(this.#replica, venue))
      })
    })
  }

  async #admit(asked: Asked, answer: (ageMs: number) => void | Promise<void>): Promise<void> {
    let oldestMs = 0
    for (const list of asked.lists) {
      const ageMs = this.#admissions.ageNow(list)
      if (ageMs < 0) return this.#wait(asked, answer)
      oldestMs = Math.max(oldestMs, ageMs)
    }
    await answer(oldestMs)
  }

  async #wait(asked: Asked, answer: (ageMs: number) => void | Promise<void>): Promise<void> {
    const waiting = this.#admissions.waiting
    const admission = await this.#admissions.wait(asked.lists, this.#time.now())
    if (admission.ok) return answer(admission.ageMs)
    const retryAfterMs = Math.max(1, Math.ceil(admission.retryAfterMs / 1000)) * 1000
    const isAnswerable = (): boolean => asked.lists.every((list) => this.#admissions.ageNow(list) >= 0)
    this.#checker.refuse(asked, { retryAfterMs, waiting, isAnswerable })
  }

  #arrive(lists: Asked['lists']): Asked {
    const moment: Moment = this.#time.now()
    return { lists, moment, trueMs: this.#time.trueMs }
  }

  #venueOf(id: Guid): Guid | null {
    const venue = this.#replica.events.list.get(id)?.VenueId ?? EMPTY_GUID
    return venue === EMPTY_GUID ? null : venue
  }
}
