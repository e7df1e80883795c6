import { Buffer } from 'node:buffer'
import { pack } from '../../src/cluster/snapshot-chunks.ts'
import { Signing } from '../../src/cluster/entries.ts'
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
  #keys = 0

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
    for (const instance of this.#fleet.instances) if (instance.key !== this.#fleet.key) this.#fleet.kill(instance)
    const { instances } = this.#fleet
    store.state = 'up'
    store.isFull = false
    weather.calm()
    for (const instance of instances) {
      instance.isCut = false
      instance.answersLost = 0
      instance.slowness = 1
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
        store.state = 'down'
        store.breakConnections()
        this.#later(forMs(), () => (store.state = 'up'))
      },
      'store swallows': () => {
        store.state = 'swallows'
        this.#later(forMs(), () => (store.state = 'up'))
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
      'tail lost': () => {
        store.loseTail(1 + chance.below(20))
        if (chance.happens(0.5)) store.breakConnections()
      },
      'store full': () => {
        store.isFull = true
        this.#later(forMs(), () => (store.isFull = false))
      },
      'connections broken': () => store.breakConnections(),
      'connections half open': () => store.halfOpen(),
      'entry forged': () => this.#forge(),
      'another key': () => {
        if (fleet.instances.length > 4) return
        const stranger = fleet.start('a key that is not that of the others')
        this.#later(forMs(), () => fleet.kill(stranger))
      },
      'key replaced': () => {
        const before = fleet.ours
        fleet.key = `key ${++this.#keys}, which is long enough`
        this.#saved = null
        // All at once, or one after the other.
        const pauseMs = chance.pick([0, maxAgeMs / 10])
        for (const [at, instance] of before.entries()) {
          fleet.time.inTheWorld(at * pauseMs, () => {
            fleet.kill(instance)
            fleet.start()
          })
        }
      },
      'log stuck': () => store.stick(`${1_795_000_000_000 + this.count}-0`),
      'log cleared': () => {
        if (chance.happens(0.5)) store.stick(`${1_795_000_000_000 + this.count}-0`)
        store.clear()
      },
      'entry too large': () =>
        store.swell({ id: `${store.log?.at(-1)?.id.split('-')[0] ?? 1}-999999`, h: '', b: null, s: null }),
      'rows torn': () => {
        const id = store.log?.at(-1)?.id.replace(/\d+$/, (number) => `${Number(number) + 1}`)
        if (id === undefined) return
        const [h, b] = [
          JSON.stringify({ kind: 'rows', updatedAtMs: [], claimId: this.#topClaimId() }),
          pack(Buffer.from([1, 2, 3])),
        ]
        store.forge({ id, h, b, s: new Signing('model', fleet.key).sign('log', id, h, b) })
      },
      'rights lost': () => fleet.rights.lose(chance.pick(['events', 'venues']), chance.span(3 * maxAgeMs)),
      'chunk missing': () => {
        const chunk = [...store.blobs.keys()].find((name) => name !== 'snapshot')
        if (chunk !== undefined) store.blobs.delete(chunk)
      },
      'snapshot too large': () => {
        const keys = [...store.blobs.keys(), 'snapshots']
        store.endlessKeys.add(chance.pick(keys))
      },
      'log trimmed': () => {
        const cut = store.log?.at(-1 - chance.below(5))
        if (cut !== undefined) store.trimBefore(cut.id)
      },
      'crm down': () => {
        weather.downUntilMs = fleet.time.trueMs + forMs()
      },
    }
  }

  #topClaimId(): string {
    return /"claimId":"(\w+)"/.exec(this.#fleet.store.log?.at(-1)?.h ?? '')?.[1] ?? ''
  }

  /** Somebody without the key repeats what was written before, or writes where none stands above it. */
  #forge(): void {
    const { store } = this.#fleet
    const { log } = store
    const top = log?.at(-1)
    if (log === null || top === undefined) return
    const [epoch = 0, number = 0] = top.id.split('-').map(Number)
    const rows = log.filter(({ id, h }) => id.startsWith(`${epoch}-`) && h.includes('"rows"'))
    const entry = rows.length > 0 ? this.#chance.pick(rows) : top
    const isHighest = this.#chance.happens(0.3)
    store.forge({ ...entry, id: isHighest ? `${Number.MAX_SAFE_INTEGER}-0` : `${epoch}-${number + 1}` })
  }
}
