import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import type { Replica } from '../../src/sync/replica.ts'
import type { Moment } from '../../src/time/time.ts'
import type { Chance } from './chance.ts'
import type { Asked, Checker } from './checker.ts'
import { glimpseEvent, glimpseVenue } from './glimpse.ts'
import type { Host, Running } from './host.ts'
import { guidOf } from './records.ts'
import type { Setting } from './setting.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A caller. Like the public interface, it looks at the data only after admission. */
export class Client {
  readonly #host: Host
  readonly #checker: Checker
  readonly #time: VirtualTime
  readonly #chance: Chance
  readonly #setting: Setting

  constructor(host: Host, checker: Checker, time: VirtualTime, chance: Chance, setting: Setting) {
    this.#host = host
    this.#checker = checker
    this.#time = time
    this.#chance = chance
    this.#setting = setting
  }

  /** Asks, pauses and asks again, for ever; sometimes a burst, like a page with many pictures. */
  live(): void {
    this.#time.after(this.#chance.span(this.#setting.thinkMs), () => {
      const burst = this.#chance.happens(0.1) ? 5 : 1
      const { current } = this.#host
      const asked = current === null ? [] : Array.from({ length: burst }, () => this.#ask(current))
      void Promise.all(asked)
        .catch((cause: unknown) => this.#checker.crash(cause))
        .then(() => this.live())
    })
  }

  async #ask(running: Running): Promise<void> {
    const { replica } = running
    const { events, venues } = replica
    const roll = this.#chance.next()
    if (roll < 0.4) {
      const id = this.#anyEvent()
      const asked = this.#arrive([events])
      await this.#admit(running, asked, (ageMs) => this.#checker.answer(asked, ageMs, [glimpseEvent(replica, id)]))
    } else if (roll < 0.6) {
      const id = guidOf(0x1000 + this.#chance.below(this.#setting.venues + 2))
      const asked = this.#arrive([venues])
      await this.#admit(running, asked, (ageMs) => this.#checker.answer(asked, ageMs, [glimpseVenue(replica, id)]))
    } else {
      await this.#askEventVenue(running, this.#anyEvent())
    }
  }

  /** Returns the id of an event, sometimes of one that never was. */
  #anyEvent(): Guid {
    return guidOf(1 + this.#chance.below(this.#setting.events + 4))
  }

  async #askEventVenue(running: Running, id: Guid): Promise<void> {
    const { replica } = running
    const { events, venues } = replica
    const first = this.#arrive([events])
    await this.#admit(running, first, async (ageMs) => {
      if (venueOf(replica, id) === null) return this.#checker.answer(first, ageMs, [glimpseEvent(replica, id)])
      const both = this.#arrive([events, venues])
      await this.#admit(running, both, (bothAgeMs) => {
        const venue = venueOf(replica, id)
        const event = glimpseEvent(replica, id)
        if (venue === null) this.#checker.answer(both, bothAgeMs, [event])
        else {
          const isGuess = both.lists.some((list) => running.admissions.isGuessing(list))
          if (!venues.list.serves(venue) && isGuess) this.#checker.refuseVenue()
          else this.#checker.answerOfTwo(both, bothAgeMs, event, glimpseVenue(replica, venue))
        }
      })
    })
  }

  async #admit(running: Running, asked: Asked, answer: (ageMs: number) => void | Promise<void>): Promise<void> {
    let oldestMs = 0
    for (const list of asked.lists) {
      const ageMs = running.admissions.ageNow(list)
      if (ageMs < 0) return this.#wait(running, asked, answer)
      oldestMs = Math.max(oldestMs, ageMs)
    }
    await answer(oldestMs)
  }

  async #wait(running: Running, asked: Asked, answer: (ageMs: number) => void | Promise<void>): Promise<void> {
    const { admissions } = running
    const { waiting } = admissions
    const admission = await admissions.wait(() => asked.lists, this.#time.now())
    // The connection ended with the process.
    if (this.#host.current !== running) return
    if (admission.ok) return answer(admission.ageMs)
    const retryAfterMs = Math.max(1, Math.ceil(admission.retryAfterMs / 1000)) * 1000
    // A promise of an ended process does not bind the next one.
    const isAnswerable = (): boolean =>
      this.#host.current !== running || asked.lists.every((list) => admissions.ageNow(list) >= 0)
    this.#checker.refuse(asked, { retryAfterMs, waiting, isAnswerable })
  }

  #arrive(lists: Asked['lists']): Asked {
    const moment: Moment = this.#time.now()
    return { lists, moment, trueMs: this.#time.trueMs, isShrunk: lists.some(({ shrunk }) => shrunk !== null) }
  }
}

function venueOf({ events }: Replica, id: Guid): Guid | null {
  const venue = events.list.get(id)?.VenueId ?? EMPTY_GUID
  return venue === EMPTY_GUID ? null : venue
}
