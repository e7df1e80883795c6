import type { Observe } from '../../src/observe/observation.ts'
import { ChangeFeed } from '../../src/changes/change-feed.ts'
import { Admissions } from '../../src/sync/served-list.ts'
import type { Crm } from '../../src/sync/port.ts'
import { Replica } from '../../src/sync/replica.ts'
import { FollowedLists, isSame } from '../../src/cluster/followed-lists.ts'
import { Cluster } from '../../src/cluster/cluster.ts'
import type { Chance } from '../model/chance.ts'
import { formatter } from '../model/records.ts'
import type { Setting } from '../model/setting.ts'
import type { MemoryStore, Wire } from '../support/memory-store.ts'
import type { Machine } from './machine.ts'
import { ListMaker, type RecordLists } from '../../src/records/row-records.ts'

export interface InstanceOptions {
  readonly name: string
  readonly machine: Machine
  readonly chance: Chance
  readonly store: MemoryStore
  readonly setting: Setting
  readonly heartbeatMs: number
  readonly readAlone: boolean
  readonly crm: Crm
  readonly storeDelayMs: number
  /** How long requests pass between two slices of work. */
  readonly sliceMs?: number
  /** Begins to read the CRM: whether all of a list is yet to be read. */
  readonly reads?: (isFromNothing: boolean) => void
  readonly observe?: Observe
}

/** One Marquee of the model: a machine, its way to the store and to the CRM, and what it holds. */
export class Instance {
  readonly machine: Machine
  readonly cluster: Cluster
  readonly admissions: Admissions
  readonly changes: ChangeFeed
  /** All replicas that read the CRM here, one after the other. */
  readonly replicas: Replica[] = []
  readonly heartbeat: { ms: number }
  #loadsInto: RecordLists | null = null
  isCut = false
  answersLost = 0
  /** How likely it is that a write lies in a socket, and for how long at the most. */
  writesLie = 0
  liesMs = 0
  slowness = 1
  /** What reads of the CRM brought here. */
  rowsRead = 0
  isShrunk = false
  /** How often a slice of work has ended. */
  slices = 0

  constructor(options: InstanceOptions) {
    const {
      machine,
      chance,
      store,
      setting,
      heartbeatMs,
      readAlone,
      crm,
      storeDelayMs,
      name,
      sliceMs = 0,
      reads = () => {},
      observe = () => {},
    } = options
    this.machine = machine
    this.heartbeat = { ms: heartbeatMs }
    const served = (): RecordLists => {
      const { events, venues } = this.cluster.served
      return { events: events.list, venues: venues.list }
    }
    this.changes = new ChangeFeed(served, machine, '')
    this.admissions = new Admissions(
      () => setting,
      () => setting,
      machine,
    )
    const isCut = (): boolean => this.isCut
    const wire: Wire = {
      name,
      delayMs: () => chance.span(storeDelayMs) * this.slowness,
      losesAnswer: () => chance.happens(this.answersLost),
      inTheWorld: (delayMs, then) => machine.inTheWorld(delayMs, then),
      here: (delayMs, then) => void machine.after(delayMs, then),
      get isCut() {
        return isCut()
      },
      lies: () => (chance.happens(this.writesLie) ? chance.between(0.6, 1) * this.liesMs : 0),
    }
    this.cluster = new Cluster({
      store: { connect: () => store.connect(wire) },
      settings: () => setting,
      limits: () => ({ memoryBytes: Number.POSITIVE_INFINITY }),
      heartbeat: this.heartbeat,
      readAlone,
      version: '0.1.0',
      time: machine,
      draw: (bytes) => Array.from({ length: bytes }, () => chance.below(256).toString(16).padStart(2, '0')).join(''),
      pause: () => {
        this.slices++
        if (sliceMs === 0) return Promise.resolve()
        return new Promise((resolve) => void machine.after(sliceMs, resolve))
      },
      observe,
      newLists: () => this.#loadsInto ?? new ListMaker(formatter).make(),
      marking: (lists, isAll) => this.changes.marking(lists, isAll),
      newReplica: (lists, resumeState, told) => {
        reads(resumeState?.events.isLoaded !== true || !resumeState.venues.isLoaded)
        const replica = new Replica({
          crm,
          settings: () => setting,
          limits: () => ({ memoryBytes: Number.POSITIVE_INFINITY }),
          time: machine,
          observe: (observation) => {
            if (observation.kind === 'shrunk') this.isShrunk = true
            if (observation.kind === 'read-ended') this.rowsRead += observation.read.rows
            told(observation)
          },
          pause: () => Promise.resolve(),
          lists,
          ...(resumeState === null ? {} : { resumeState }),
        })
        this.replicas.push(replica)
        return replica
      },
      examine: () => Promise.resolve(true),
    })
  }

  /** Makes it load rows into lists that it has, as a mutant does. */
  loadInto(lists: RecordLists): void {
    this.#loadsInto = lists
  }

  /** What is answered is what the store has. */
  get isServedByStore(): boolean {
    const { served } = this.cluster
    const { position, role } = this.cluster.member
    if (served instanceof FollowedLists) return served.isReached && isSame(served.position, position)
    return role === 'leader' && served === this.replicas.at(-1)
  }

  /** It reads the CRM, and not all of it yet. */
  get isLoading(): boolean {
    const replica = this.replicas.at(-1)
    return replica !== undefined && !(replica.events.isLoaded && replica.venues.isLoaded)
  }

  get isRunning(): boolean {
    return this.machine.isRunning
  }
}
