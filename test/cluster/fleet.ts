import type { EventRecord } from '../../src/domain/event.ts'
import type { ListName } from '../../src/domain/field.ts'
import type { EitherList } from '../../src/sync/served-list.ts'
import type { Crm, Cursor } from '../../src/sync/port.ts'
import { cursorOf } from '../../src/sync/port.ts'
import type { ListSource } from '../../src/sync/port.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import type { Chance } from '../model/chance.ts'
import { Exchange, Weather } from '../model/exchange.ts'
import { History } from '../model/history.ts'
import { ReadLog } from '../model/read-log.ts'
import { eventOf, guidOf, venueOf } from '../model/records.ts'
import { sourceFor } from '../model/run-model.ts'
import type { Setting } from '../model/setting.ts'
import { settingOf } from '../model/setting.ts'
import { Table } from '../model/table.ts'
import { VirtualTime } from '../model/virtual-time.ts'
import type { Moment } from '../../src/time/time.ts'
import { elapsedMs } from '../../src/time/time.ts'
import { FollowedLists } from '../../src/cluster/followed-lists.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { FleetChecker } from './fleet-checker.ts'
import { Instance } from './instance.ts'
import { Machine } from './machine.ts'
import type { Eyes } from './rights.ts'
import { Rights } from './rights.ts'

export interface FleetSetting extends Setting {
  readonly instances: number
  readonly heartbeatMs: number
  readonly readAlone: boolean
  readonly storeDelayMs: number
  /** How often one instance is looked at as a whole. */
  readonly inspectEveryMs: number
  /** A cursor works for the instance that got it alone. */
  readonly cursorsStay: boolean
  /** And is handed over all the same. */
  readonly handsOverAnyway: boolean
  readonly sliceMs: number
  /** The only ones that happen; null: all. */
  readonly mishaps: readonly string[] | null
}

export function fleetSettingOf(given: Partial<FleetSetting> & Pick<Setting, 'strategy' | 'maxAgeMs'>): FleetSetting {
  const { maxAgeMs } = given
  return {
    instances: 4,
    heartbeatMs: Math.min(500, Math.max(50, maxAgeMs / 20)),
    readAlone: true,
    storeDelayMs: 2,
    inspectEveryMs: maxAgeMs / 12,
    cursorsStay: false,
    handsOverAnyway: false,
    sliceMs: 0,
    mishaps: null,
    ...settingOf({ trouble: 0, cursorDeaths: 0, clients: 8, thinkMs: maxAgeMs / 20, ...given }),
    ...given,
  }
}

interface Wait {
  readonly instance: Instance
  readonly lists: () => readonly EitherList[]
  /** When the last heartbeat came, at a look at which the request could have been answered. */
  seen: Moment | null
}

/** A world with a CRM, a store, and instances that come and go. */
export class Fleet {
  readonly setting: FleetSetting
  readonly time: VirtualTime
  readonly chance: Chance
  readonly store: MemoryStore = new MemoryStore()
  readonly tables: Readonly<Record<'events' | 'venues', Table>> = {
    events: new Table('events'),
    venues: new Table('venues'),
  }
  readonly weather: Weather
  readonly history: History
  readonly checker: FleetChecker
  readonly rights: Rights
  instances: Instance[] = []
  /** Of all instances that ever lived. */
  readonly #exchanges = new Map<Exchange, { readonly machine: Machine; readonly list: ListName }>()
  readonly news: Record<string, number> = {}
  readonly log: string[] = []
  readonly #waits = new Set<Wait>()
  #started = 0

  constructor(setting: FleetSetting, seed: number) {
    this.setting = setting
    this.time = new VirtualTime(seed)
    this.chance = this.time.chance.fork()
    this.weather = new Weather(setting.trouble)
    this.history = new History(this.tables.events, this.tables.venues, setting, this.time, this.chance.fork())
    this.rights = new Rights(this, this.chance.fork())
    this.checker = new FleetChecker(this.tables, this.time, setting, this.weather, this.rights)
    this.store.onAdded = (entry, name) => this.checker.added(entry, name)
  }

  begin(): void {
    this.history.begin()
    for (let count = 0; count < this.setting.instances; count++) this.start()
    for (let count = 0; count < this.setting.clients; count++) this.#client(this.chance.fork())
    this.#inspect()
  }

  /** One more instance, with settings of its own. */
  start(given: Partial<FleetSetting> = {}): Instance {
    const { chance } = this
    const setting = { ...this.setting, ...given }
    const machine = new Machine(this.time, chance.fork())
    const number = ++this.#started
    const name = `#${number}`
    const eyes = { machine, seesAll: false }
    const instance = new Instance({
      name,
      reads: (isFromNothing) => {
        if (isFromNothing && this.rights.areLost) eyes.seesAll = true
      },
      machine,
      chance: chance.fork(),
      store: this.store,
      setting,
      heartbeatMs: setting.heartbeatMs,
      readAlone: setting.readAlone,
      storeDelayMs: setting.storeDelayMs,
      sliceMs: setting.sliceMs,
      crm: this.#crm(eyes, number),
      observe: (observation) => {
        const what = observation.kind === 'cluster-changed' ? observation.what : observation.kind
        this.news[what] = (this.news[what] ?? 0) + 1
        this.log.push(`${Math.round(this.time.trueMs)} #${number} ${JSON.stringify(observation)}`)
      },
    })
    this.instances.push(instance)
    instance.cluster.start()
    return instance
  }

  /** Its requests for these lists are swallowed from now on. */
  cutFromCrm({ machine }: Instance, lists: readonly ListName[]): void {
    for (const [exchange, its] of this.#exchanges) {
      if (its.machine === machine && lists.includes(its.list)) exchange.isCut = true
    }
  }

  kill(instance: Instance): void {
    instance.machine.kill()
    this.instances = this.instances.filter((one) => one !== instance)
  }

  /** SIGTERM: it says that it goes, and has a while for that. */
  end(instance: Instance): void {
    this.instances = this.instances.filter((one) => one !== instance)
    void instance.cluster.stop()
    this.time.inTheWorld(this.setting.maxAgeMs, () => instance.machine.kill())
  }

  get leader(): Instance | null {
    return this.instances.find(({ cluster, isRunning }) => isRunning && cluster.member.role === 'leader') ?? null
  }

  get requests(): number {
    return [...this.#exchanges.keys()].reduce((sum, { requests }) => sum + requests, 0)
  }

  async pass(ms: number): Promise<void> {
    for (const endMs = this.time.trueMs + ms; this.time.trueMs < endMs && this.checker.wrongs === 0;)
      await this.time.step()
  }

  /** Lets time pass until it is so; false where it is not within `ms`. */
  async until(isSo: () => boolean, ms: number): Promise<boolean> {
    for (const endMs = this.time.trueMs + ms; !isSo(); await this.time.step()) {
      if (this.time.trueMs >= endMs) return false
    }
    return true
  }

  /** Whether callers of it get answers. */
  answers({ cluster, admissions }: Instance): boolean {
    return admissions.ageNow(cluster.served.events) >= 0 && admissions.ageNow(cluster.served.venues) >= 0
  }

  #crm(eyes: Eyes, number: number): Crm {
    const { setting, tables, weather } = this
    const { machine } = eyes
    const exchangeOf = (list: ListName): Exchange => {
      const exchange = new Exchange(machine, this.chance.fork(), weather, setting.latencyMs)
      this.#exchanges.set(exchange, { machine, list })
      return exchange
    }
    const shared = () => ({
      setting,
      log: new ReadLog(),
      time: machine,
      chance: this.chance.fork(),
      versionOf: (state: { readonly updatedAtS: number }) =>
        setting.strategy === 'time-delta' ? state.updatedAtS : Number.NaN,
    })
    const events = sourceFor<EventRecord>({
      ...shared(),
      table: tables.events,
      exchange: exchangeOf('events'),
      recordOf: (id, { epoch, sold, venue }) =>
        eventOf(id, { Name: `${epoch}`, TicketsAvailable: sold, VenueId: venue }),
    })
    const venues = sourceFor<VenueRecord>({
      ...shared(),
      table: tables.venues,
      exchange: exchangeOf('venues'),
      recordOf: (id, { epoch }) => venueOf(id, `${epoch}`),
    })
    const travelling = <Item>(source: ListSource<Item>): ListSource<Item> =>
      setting.cursorsStay
        ? { ...staying(source, number), travels: () => setting.handsOverAnyway }
        : { ...source, travels: () => true }
    return {
      events: this.rights.seen('events', travelling(events), eyes),
      venues: this.rights.seen('venues', travelling(venues), eyes),
      close: () => Promise.resolve(),
    }
  }

  #client(chance: Chance): void {
    const live = (): void => {
      const instance = this.instances[chance.below(Math.max(1, this.instances.length))]
      if (instance?.isRunning === true) this.#ask(instance, chance)
      this.time.after(chance.span(this.setting.thinkMs), live)
    }
    this.time.after(chance.span(this.setting.thinkMs), live)
  }

  /**
   * Looks at everything now and then: at all that an instance answers, and whether a follower holds what its leader
   * does.
   */
  #inspect(): void {
    const instance = this.instances[this.chance.below(Math.max(1, this.instances.length))]
    if (instance?.isRunning === true && this.answers(instance)) {
      const { served } = instance.cluster
      const now = instance.machine.peek()
      const ageMs = Math.max(served.events.ageMs(now) ?? 0, served.venues.ageMs(now) ?? 0)
      this.checker.age(ageMs)
      for (let number = 1; number <= 64; number++) this.checker.both(instance, served, guidOf(number), ageMs)
      for (let number = 0; number < 32; number++) this.checker.venue(instance, served, guidOf(0x1000 + number), ageMs)
    }
    const { leader } = this
    for (const wait of this.#waits) this.#look(wait)
    if (leader?.cluster.member.leader?.unsent === 0 && instance?.isRunning === true)
      this.checker.agree(leader, instance)
    this.time.after(this.chance.span(this.setting.inspectEveryMs), () => this.#inspect())
  }

  /** Asks as the public face does; some who would have to wait do. */
  #ask(instance: Instance, chance: Chance): void {
    const roll = chance.next()
    const id = guidOf(1 + chance.below(64))
    const venue = guidOf(0x1000 + chance.below(32))
    const lists = (): readonly EitherList[] => {
      const { events, venues } = instance.cluster.served
      return roll < 0.3 ? [events] : roll < 0.5 ? [venues] : [events, venues]
    }
    const answer = (ageMs: number, waitedMs: number): void => {
      const { served } = instance.cluster
      this.checker.age(ageMs, waitedMs)
      if (roll < 0.3) this.checker.event(instance, served, id, ageMs)
      else if (roll < 0.5) this.checker.venue(instance, served, venue, ageMs)
      else this.checker.both(instance, served, id, ageMs)
    }
    const agesMs = lists().map((list) => instance.admissions.ageNow(list))
    if (agesMs.every((ageMs) => ageMs >= 0)) answer(Math.max(...agesMs), 0)
    else if (chance.happens(0.5)) void this.#wait(instance, lists, answer)
    else this.checker.refused++
  }

  async #wait(
    instance: Instance,
    lists: () => readonly EitherList[],
    answer: (ageMs: number, waitedMs: number) => void,
  ): Promise<void> {
    const { machine, admissions } = instance
    const arrived = machine.now()
    const wait: Wait = { instance, lists, seen: null }
    this.#waits.add(wait)
    const admission = await admissions.wait(lists, arrived)
    this.#waits.delete(wait)
    // Its connection went with the process.
    if (!this.instances.includes(instance)) return
    if (admission.ok) answer(admission.ageMs, elapsedMs(arrived, machine.peek()))
    else if (this.#isAnswerable(wait)) this.checker.fault('502 though the data is within the maximum age')
    else this.checker.refused++
  }

  #isAnswerable({ instance, lists }: Wait): boolean {
    return lists().every((list) => instance.admissions.ageNow(list) >= 0)
  }

  /** Answers requests that wait for the leader as soon as its data suffices. */
  #look(wait: Wait): void {
    const { instance } = wait
    const { served } = instance.cluster
    if (!this.instances.includes(instance)) this.#waits.delete(wait)
    else if (!(served instanceof FollowedLists) || !instance.isRunning || !this.#isAnswerable(wait)) wait.seen = null
    else if (wait.seen === null) wait.seen = served.beatAt
    else if (wait.seen !== served.beatAt) this.checker.fault('a request waits though it could be answered')
  }
}

/** Cursors that count from somewhere else in each process. */
function staying<Item>(source: ListSource<Item>, number: number): ListSource<Item> {
  return {
    ...source,
    async *read(request) {
      const cursor = request.cursor === null ? null : moved(request.cursor, -number * 1000)
      const outcome = yield* source.read({ ...request, cursor })
      if (!outcome.ok || outcome.cursor === null) return outcome
      return { ...outcome, cursor: moved(outcome.cursor, number * 1000) }
    },
  }
}

function moved(cursor: Cursor, by: number): Cursor {
  return cursorOf(cursor.replace(/\d+$/, (digits) => `${Number(digits) + by}`))
}
