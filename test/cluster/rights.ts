import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import type { ListSource } from '../../src/sync/port.ts'
import type { Chance } from '../model/chance.ts'
import type { Story } from '../model/story.ts'
import type { Table } from '../model/table.ts'
import type { VirtualTime } from '../model/virtual-time.ts'
import type { Instance } from './instance.ts'
import type { Machine } from './machine.ts'

type ListName = 'events' | 'venues'

/** The shrink guard holds for more than ten of them, and a second reading agrees. */
const FEWEST = 24
const MOST_KEPT = 4
const LOOK_MS = 100

interface Loss {
  /** All that is still shown. */
  readonly kept: ReadonlySet<Guid>
  /** Every instance that answers knows what was there before. */
  readonly knownMs: number
}

/** Where rights are lost. */
interface World {
  readonly tables: Readonly<Record<ListName, Table>>
  readonly instances: readonly Instance[]
  readonly time: VirtualTime
  readonly setting: { readonly maxAgeMs: number }
  readonly checker: { excuse(): void }
}

/** What one instance's account with the CRM shows. */
export interface Eyes {
  readonly machine: Machine
  /** It read a list for the first time while others saw a part of it: nobody could tell it what is missing. */
  seesAll: boolean
}

/** The CRM shows a few rows of a list alone for a while; then all again, or the operator says that this is right. */
export class Rights {
  readonly #world: World
  readonly #chance: Chance
  readonly #losses: Record<ListName, Loss | null> = { events: null, venues: null }
  /** Reads under way. */
  readonly #reads: Record<ListName, Set<{ readonly machine: Machine }>> = { events: new Set(), venues: new Set() }
  #isAccepted = false

  constructor(world: World, chance: Chance) {
    this.#world = world
    this.#chance = chance
  }

  get areLost(): boolean {
    return this.#losses.events !== null || this.#losses.venues !== null
  }

  hides(name: ListName, id: Guid): boolean {
    return this.#losses[name]?.kept.has(id) === false
  }

  /** Whether it is hidden, and came so late that it may never have been seen. */
  isUnknown(name: ListName, { id, epochs }: Story): boolean {
    return this.hides(name, id) && (epochs.at(-1)?.from ?? 0) > (this.#losses[name]?.knownMs ?? 0)
  }

  /** Not within a read: what it has seen by then would hide how much is missing. */
  lose(name: ListName, forMs: number): void {
    const { tables, instances, time, setting, checker } = this.#world
    const shown = tables[name].shown().map(({ id }) => id)
    const isLong = instances.every(
      ({ cluster }) => cluster.member.role === 'waiting' || cluster.served[name].list.served >= FEWEST,
    )
    const isNew = instances.some(({ isLoading }) => isLoading)
    // What changed and was read by nobody who answers, or by nobody who writes to the log, the CRM would tell nobody
    // any more.
    const isKnown =
      instances.every(
        (instance) => instance.cluster.member.role === 'waiting' || isWithin(instance, setting.maxAgeMs),
      ) &&
      instances.some(
        (one) =>
          one.cluster.member.role === 'leader' && one.cluster.member.isConnected && isWithin(one, setting.maxAgeMs),
      )
    if (this.areLost || this.#isAccepted || this.#isRead(name) || isNew || !isLong || !isKnown) return
    if (shown.length < FEWEST) return
    const kept = new Set(shown.slice(0, this.#chance.below(MOST_KEPT)))
    this.#losses[name] = { kept, knownMs: time.trueMs - 2 * setting.maxAgeMs }
    checker.excuse()
    time.inTheWorld(forMs, () => this.restore(name))
  }

  /** Between two reads. */
  restore(name: ListName): void {
    const { tables, time, checker } = this.#world
    const loss = this.#losses[name]
    if (loss === null) return
    if (this.#isRead(name)) return time.inTheWorld(LOOK_MS, () => this.restore(name))
    const rows = [...tables[name].stories.values()].filter(({ id }) => !loss.kept.has(id))
    if (this.#chance.happens(0.3)) this.#accept(tables[name], rows)
    // What changed meanwhile was told to nobody.
    for (const story of rows) hush(story, loss.knownMs)
    this.#losses[name] = null
    checker.excuse()
  }

  /** The rows are gone, and the instances that do not believe that say so. */
  #accept(table: Table, rows: readonly Story[]): void {
    const { time } = this.#world
    this.#isAccepted = true
    for (const story of rows) {
      if (story.state?.exists !== true) continue
      table.change(
        story,
        { exists: false, shown: false, venue: EMPTY_GUID },
        { at: time.trueMs, untold: true, lateByMs: 0, silent: true },
      )
    }
    const say = (): void => {
      for (const { replicas, isRunning } of this.#world.instances) {
        const replica = replicas.at(-1)
        const isHeld = [replica?.events, replica?.venues].some(
          (list) => list !== undefined && list.shrunk !== null && !list.reader.guard.acceptsShorter,
        )
        if (isRunning && isHeld) replica?.acceptShorter()
      }
      time.inTheWorld(this.#world.setting.maxAgeMs / 6, say)
    }
    say()
  }

  #isRead(name: ListName): boolean {
    return [...this.#reads[name]].some(({ machine }) => !machine.isDead)
  }

  /** The source as an instance sees it. */
  seen<Item>(name: ListName, source: ListSource<Item>, eyes: Eyes): ListSource<Item> {
    const reads = this.#reads[name]
    const isSeen = ({ id }: { readonly id: Guid | null }): boolean =>
      eyes.seesAll || id === null || !this.hides(name, id)
    return {
      ...source,
      async *read(request) {
        // A list may be read and audited at once.
        const read = { machine: eyes.machine }
        reads.add(read)
        try {
          const pages = source.read(request)
          for (;;) {
            const next = await pages.next()
            if (next.done === true) return next.value
            yield { ...next.value, changes: next.value.changes.filter(isSeen) }
          }
        } finally {
          reads.delete(read)
        }
      },
    }
  }
}

function isWithin({ cluster, machine }: Instance, maxAgeMs: number): boolean {
  const now = machine.peek()
  return [cluster.served.events, cluster.served.venues].every((list) => (list.ageMs(now) ?? Infinity) <= maxAgeMs)
}

function hush({ epochs, sales }: Story, sinceMs: number): void {
  for (const span of [...epochs, ...sales])
    if (span.to >= sinceMs && span.to < Number.POSITIVE_INFINITY) span.endedSilently = true
}
