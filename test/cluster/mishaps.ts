import { Buffer } from 'node:buffer'
import type { Chance } from '../model/chance.ts'
import type { Fleet } from './fleet.ts'

/** Of these nobody can say that reads of the CRM, or of the store, fail for them. */
const HARMLESS = new Set(['kill', 'terminate', 'start', 'stop', 'sleep', 'set the clock', 'store saved'])

/** What goes wrong in a fleet, at random: its instances, its store, its CRM. Whatever it is ends by itself. */
export class Mishaps {
  count = 0
  readonly kinds: Record<string, number> = {}
  readonly #fleet: Fleet
  readonly #chance: Chance
  readonly #everyMs: number
  #active = true
  #saved: ReturnType<Fleet['store']['save']> | null = null

  constructor(fleet: Fleet, chance: Chance, everyMs: number) {
    this.#fleet = fleet
    this.#chance = chance
    this.#everyMs = everyMs
  }

  begin(): void {
    this.#fleet.time.inTheWorld(this.#chance.span(this.#everyMs), () => {
      if (!this.#active) return
      this.count++
      this.#strike()
      this.begin()
    })
  }

  /** All is well from now on. */
  heal(): void {
    const { store, setting, weather, rights } = this.#fleet
    this.#active = false
    rights.restore('events')
    rights.restore('venues')
    const { instances } = this.#fleet
    store.health = 'up'
    store.isFull = false
    weather.calm()
    for (const instance of instances) {
      instance.isCut = false
      instance.answersLost = 0
      instance.slowness = 1
      instance.writesLie = 0
    }
    while (this.#fleet.instances.length < setting.instances) this.#fleet.start()
  }

  #later(ms: number, undo: () => void): void {
    this.#fleet.time.inTheWorld(ms, () => {
      if (this.#active) undo()
    })
  }

  #strike(): void {
    const { checker, setting } = this.#fleet
    const deeds = Object.entries(this.#deeds()).filter(([name]) => setting.mishaps?.includes(name) !== false)
    const [name, deed] = this.#chance.pick(deeds)
    if (!HARMLESS.has(name)) checker.excuse()
    this.kinds[name] = (this.kinds[name] ?? 0) + 1
    this.#fleet.log.push(`${Math.round(this.#fleet.time.trueMs)} ${name}`)
    deed()
  }

  #deeds(): Record<string, () => void> {
    const fleet = this.#fleet
    const chance = this.#chance
    const { store, setting, weather } = fleet
    const { maxAgeMs } = setting
    // Rather the leader than another: that is where it hurts.
    const one = (): Fleet['instances'][number] | undefined =>
      (chance.happens(0.5) ? fleet.leader : null) ??
      (fleet.instances.length > 0 ? chance.pick(fleet.instances) : undefined)
    const forMs = (): number => Math.min(3 * maxAgeMs, chance.span(maxAgeMs * 0.7))
    const startLater = (): void =>
      this.#later(chance.span(maxAgeMs / 2), () => {
        if (fleet.instances.length < 5) fleet.start()
      })
    return {
      kill: () => {
        const instance = one()
        if (instance === undefined || fleet.instances.length < 2) return
        fleet.kill(instance)
        startLater()
      },
      terminate: () => {
        const instance = one()
        if (instance === undefined || fleet.instances.length < 2) return
        fleet.end(instance)
        startLater()
      },
      start: () => {
        if (fleet.instances.length < 5) fleet.start()
      },
      stop: () => one()?.machine.stop(forMs()),
      // Where it is set back about the time that it sleeps, no clock of its own shows that it slept.
      sleep: () => {
        const machine = one()?.machine
        const ms = forMs()
        if (machine !== undefined && fleet.time.trueMs - machine.setBackAtMs > 3 * maxAgeMs) machine.sleep(ms)
      },
      'set the clock': () => {
        const machine = one()?.machine
        const byMs = chance.between(-1, 1) * chance.pick([maxAgeMs / 10, maxAgeMs, 3_600_000])
        const hasSlept = machine !== undefined && fleet.time.trueMs - machine.sleptUntilMs <= 3 * maxAgeMs
        machine?.setWallClock(hasSlept ? Math.abs(byMs) : byMs)
      },
      'cut from the store': () => {
        const instance = one()
        if (instance === undefined) return
        instance.isCut = true
        this.#later(forMs(), () => (instance.isCut = false))
      },
      'lose answers': () => {
        const instance = one()
        if (instance === undefined) return
        instance.answersLost = 0.2
        this.#later(forMs(), () => (instance.answersLost = 0))
      },
      'slow down': () => {
        const instance = one()
        if (instance === undefined) return
        instance.slowness = chance.pick([10, 100])
        this.#later(forMs(), () => (instance.slowness = 1))
      },
      'store down': () => {
        store.health = 'down'
        store.breakConnections()
        this.#later(forMs(), () => (store.health = 'up'))
      },
      'store swallows': () => {
        store.health = 'swallows'
        this.#later(forMs(), () => (store.health = 'up'))
      },
      'store emptied': () => {
        store.empty()
        if (chance.happens(0.5)) store.breakConnections()
      },
      'store saved': () => {
        this.#saved = store.save()
      },
      'store older': () => {
        if (this.#saved !== null) store.restore(this.#saved)
        if (chance.happens(0.5)) store.breakConnections()
      },
      'store full': () => {
        store.isFull = true
        this.#later(forMs(), () => (store.isFull = false))
      },
      'connections broken': () => store.breakConnections(),
      'connections half open': () => store.halfOpen(),
      'writes lie in a socket': () => {
        const instance = one()
        if (instance === undefined) return
        instance.writesLie = 0.2
        instance.liesMs = chance.pick([100, 1000, maxAgeMs / 4])
        this.#later(forMs(), () => (instance.writesLie = 0))
      },
      'stray entry': () => store.stray(),
      'log cut': () => store.cut(chance.below(5)),
      'row evicted': () => {
        const hash = store.rows[chance.pick(['events', 'venues'] as const)]
        const id = [...hash.keys()][chance.below(Math.max(1, hash.size))]
        if (id !== undefined) hash.delete(id)
      },
      'hash deleted': () => store.rows[chance.pick(['events', 'venues'] as const)].clear(),
      'row torn': () => {
        const hash = store.rows[chance.pick(['events', 'venues'] as const)]
        const id = [...hash.keys()][chance.below(Math.max(1, hash.size))]
        if (id !== undefined) hash.set(id, Buffer.from([1, 2, 3]))
      },
      'members deleted': () => store.members.clear(),
      'rights lost': () => fleet.rights.lose(chance.pick(['events', 'venues']), chance.span(3 * maxAgeMs)),
      'crm down': () => {
        weather.downUntilMs = fleet.time.trueMs + forMs()
      },
    }
  }
}
