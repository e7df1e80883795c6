import { Buffer } from 'node:buffer'
import { Admissions } from '../../src/replica/admission.ts'
import type { Crm } from '../../src/replica/port.ts'
import { newLists, Replica } from '../../src/replica/replica.ts'
import { isSame } from '../../src/share/entries.ts'
import { Following } from '../../src/share/follower.ts'
import type { ShareNews } from '../../src/share/options.ts'
import { Share } from '../../src/share/share.ts'
import { Signing } from '../../src/share/signing.ts'
import type { Chance } from '../model/chance.ts'
import { formatter } from '../model/records.ts'
import type { Setting } from '../model/setting.ts'
import type { MemoryStore, Wire } from '../support/memory-store.ts'
import type { Machine } from './machine.ts'

export interface InstanceOptions {
  readonly name: string
  readonly machine: Machine
  readonly chance: Chance
  readonly store: MemoryStore
  readonly setting: Setting
  readonly beatMs: number
  readonly readersWhenLost: number
  readonly crm: Crm
  readonly storeDelayMs: number
  readonly tell?: (news: ShareNews) => void
}

/** One Marquee of the model: a machine, its way to the store and to the CRM, and what it holds. */
export class Instance {
  readonly machine: Machine
  readonly share: Share
  readonly admissions: Admissions
  /** All replicas that read the CRM here, one after the other. */
  readonly replicas: Replica[] = []
  isCut = false
  answersLost = 0
  slowness = 1
  /** What reads of the CRM brought here. */
  rowsRead = 0
  isBraked = false

  constructor(options: InstanceOptions) {
    const {
      machine,
      chance,
      store,
      setting,
      beatMs,
      readersWhenLost,
      crm,
      storeDelayMs,
      name,
      tell = () => {},
    } = options
    this.machine = machine
    this.admissions = new Admissions(setting, setting, machine)
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
    }
    this.share = new Share({
      store: { connect: () => store.connect(wire) },
      signing: new Signing('model', ['a key that is long enough for this']),
      settings: setting,
      limits: { memoryBytes: Number.POSITIVE_INFINITY },
      beatMs,
      readersWhenLost,
      version: '0.1.0',
      time: machine,
      draw: (bytes) => Buffer.from(Array.from({ length: bytes }, () => chance.below(256))),
      pause: () => Promise.resolve(),
      tell,
      newLists: () => newLists(formatter),
      newReplica: (lists, carried, told) => {
        const replica = new Replica({
          crm,
          formatter,
          settings: setting,
          limits: { memoryBytes: Number.POSITIVE_INFINITY },
          time: machine,
          observe: (observation) => {
            if (observation.kind === 'brake-engaged') this.isBraked = true
            if (observation.kind === 'read-ended') this.rowsRead += observation.read.rows
            told(observation)
          },
          pause: () => Promise.resolve(),
          lists,
          ...(carried === null ? {} : { carried }),
        })
        this.replicas.push(replica)
        return replica
      },
      examine: () => Promise.resolve(true),
    })
  }

  /** What is answered is what the log follows, or what follows the log. */
  get isServedByLog(): boolean {
    const { served, position, role } = this.share
    if (served instanceof Following) return served.isReached && isSame(served.position, position)
    return role === 'reader' && served === this.replicas.at(-1)
  }

  get isRunning(): boolean {
    return this.machine.isRunning
  }
}
