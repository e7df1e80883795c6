import { randomBytes } from 'node:crypto'
import type { Configuration } from '../config/configuration.ts'
import { isLoopbackStore, mayBeStore } from '../config/share.ts'
import type { EventRecord } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { ShareCounts, ShareStatus } from '../operations/share-status.ts'
import type { RecordLists } from '../replica/frames.ts'
import type { ToldLists } from '../replica/held-lists.ts'
import { type ReplicaOptions, newLists, Replica } from '../replica/replica.ts'
import { elapsedMs } from '../replica/time.ts'
import { pause as sleep } from '../replica/waiting.ts'
import type { RecordList } from '../replica/record-list.ts'
import type { BaseKeeper } from '../share/base-keeper.ts'
import { idOf } from '../share/entries.ts'
import { CurrentList } from '../share/current-list.ts'
import { RedisStore } from '../share/redis/redis-store.ts'
import type { ShareNews } from '../share/options.ts'
import type { ReplicaMaker } from '../share/own-reading.ts'
import { LONGEST_DEFAULT_MS } from '../share/reign.ts'
import { Share } from '../share/share.ts'
import { logNameOf, Signing } from '../share/signing.ts'
import { OtherLogs, whyOtherLog } from '../share/other-logs.ts'
import { keepBase, sharedScope } from './base.ts'
import { VERSION } from './surroundings.ts'

export type ShareSettings = NonNullable<Configuration['share']>

export interface SharingOptions extends Omit<ReplicaOptions, 'lists' | 'carried'> {
  readonly configuration: Configuration
  readonly section: ShareSettings
  /** Whether lists are kept in order, as of now. */
  readonly keepsIndexes: () => boolean
}

const LEAST_BEAT_MS = 50
/** How often a start looks whether there is something to answer from: ever less often, since it may wait for hours. */
const LOOK_MS = { least: 10, most: 1000 } as const
const LOOKS_PART = 1 / 16

/** How often an instance with these settings says that it is there. */
export function heartbeatMs({ beatMs }: ShareSettings, { boundMs }: { readonly boundMs: number }): number {
  return beatMs ?? Math.min(LONGEST_DEFAULT_MS, Math.max(LEAST_BEAT_MS, boundMs / 20))
}

/** This instance among those that share what one of them reads: what it answers from, and what it tells of itself. */
export class Sharing implements ToldLists {
  readonly events: CurrentList<EventRecord>
  readonly venues: CurrentList<VenueRecord>
  readonly #options: SharingOptions
  readonly #share: Share
  readonly #otherLogs: OtherLogs
  readonly #ended = new AbortController()
  readonly #rebases = new Map<string, number>()
  /** What callers get, and what may take its place, as long as somebody holds it. */
  #made: WeakRef<RecordList<EventRecord> | RecordList<VenueRecord>>[] = []
  readonly #keepers = new WeakMap<Replica, BaseKeeper>()
  #storeLost: string | null = null
  #unfit = ''

  constructor(options: SharingOptions) {
    this.#options = options
    const { configuration, section, crm, settings, limits, time, observe, pause } = options
    const { url, ca, name, allowInsecure } = section
    const key = section.key?.reveal() ?? null
    const scope = sharedScope(configuration)
    const logName = logNameOf(scope, key)
    const store = new RedisStore({ url, ca, name, mayUse: (other) => mayBeStore(other, allowInsecure) }, logName)
    this.#otherLogs = new OtherLogs({
      connect: () => store.connect(),
      time,
      heartbeatMs: () => heartbeatMs(section, settings),
      tell: (names) => {
        const told = names.map((other) => `${other} (${whyOtherLog(other, logName)})`).join(', ')
        if (names.length > 0) observe({ kind: 'share-changed', what: 'other-logs', detail: told })
      },
    })
    this.#share = new Share({
      store,
      signing: new Signing(scope, key),
      settings,
      limits,
      heartbeat: {
        get ms() {
          return heartbeatMs(section, settings)
        },
      },
      readersWhenLost: section.readersWhenLost,
      version: VERSION,
      time,
      draw: randomBytes,
      pause,
      tell: (news) => this.#tell(news),
      examine: () => this.#examine(),
      newLists: () => this.#newLists(),
      newReplica: (lists, carried, told) => this.#newReplica(lists, carried, told),
    })
    const share = this.#share
    this.events = new CurrentList(() => share.served.events, crm.events.availabilityEveryMs !== null)
    this.venues = new CurrentList(() => share.served.venues, crm.venues.availabilityEveryMs !== null)
  }

  start(): void {
    const { section, observe } = this.#options
    if (section.key === null && !isLoopbackStore(section)) {
      observe({ kind: 'share-changed', what: 'unsigned', detail: null })
    }
    this.#share.start()
    void this.#otherLogs.run(this.#ended.signal)
  }

  /** Says that it goes, where it reads; resolves when nothing runs any more. */
  async stop(): Promise<void> {
    const { own } = this.#share.member
    this.#ended.abort()
    await this.#share.stop()
    await own?.replica.stop()
  }

  /** Keeps what is read here in a file; null where none is, or another instance reads. */
  get keeper(): BaseKeeper | null {
    const { own } = this.#share.member
    return (own === null ? undefined : this.#keepers.get(own.replica)) ?? null
  }

  /** Resolves when both lists may be answered from, as far as that is known. */
  async untilRead(): Promise<void> {
    const { time } = this.#options
    const { signal } = this.#ended
    const begun = time.now()
    for (;;) {
      const now = time.now()
      if (this.events.ageMs(now) !== null && this.venues.ageMs(now) !== null) return
      const waitMs = Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, elapsedMs(begun, now) * LOOKS_PART))
      await sleep(waitMs, time, signal)
      if (signal.aborted) return
    }
  }

  async untilReadsEnd(): Promise<void> {
    await this.#share.member.own?.replica.untilReadsEnd()
  }

  /** What records look like, or the settings, have changed; what is held stays. */
  adopt(looksOther: boolean): void {
    for (const made of this.#made) {
      const list = made.deref()
      if (list === undefined) continue
      if (looksOther) list.forgetBodies()
      if (!this.#options.keepsIndexes()) list.index = null
      else if (list.index === null) void list.keepIndex(this.#options.pause)
    }
    this.#share.member.own?.replica.adopt(false)
  }

  /** Said to the reader, whichever instance that is: as `Replica` does; null where none answers. */
  acceptShorter(): Promise<readonly string[] | null> {
    return this.#share.member.accept()
  }

  /** The instance that reads the CRM for this one; null where none is known, or this one does. */
  get readBy(): string | null {
    const { role, reader } = this.status()
    return role === 'follower' ? reader : null
  }

  status(): ShareStatus {
    const { role, isConnected, instance, position, member } = this.#share
    const { time } = this.#options
    const { beat } = member
    const base = member.rebase.known
    return {
      role,
      connected: isConnected,
      instance,
      reader: role === 'reader' ? instance : (beat?.instance ?? null),
      term: position?.term ?? 0,
      position: position === null ? null : idOf(position),
      instances: beat?.instances ?? 0,
      versions: beat?.versions ?? [],
      standsIn: beat?.standIns ?? [],
      lastError: this.#storeLost ?? member.trouble,
      otherLogs: this.#otherLogs.names,
      base: base === null ? null : { rows: base.rows, bytes: base.bytes, ageMs: time.now().monotonicMs - base.atMs },
    }
  }

  counts(): ShareCounts {
    const { entries, bytes, terms } = this.#share.traffic
    const refusedMarks = this.#share.member.publisher?.marks.strange ?? 0
    return {
      status: this.status(),
      owed: this.#share.owed,
      refusedMarks,
      terms,
      rebases: this.#rebases,
      entries,
      bytes,
    }
  }

  /** Whether the CRM has what the configuration names, and lets us read it: said where it has not, once a reason. */
  async #examine(): Promise<boolean> {
    const problems = (await this.#options.crm.examine?.())?.problems ?? []
    for (const { message } of problems) {
      if (this.#unfit !== message) this.#options.observe({ kind: 'share-changed', what: 'unfit', detail: message })
      this.#unfit = message
    }
    return problems.length === 0
  }

  #newLists(): RecordLists {
    const lists = newLists(this.#options.formatter)
    const { keepsIndexes, pause } = this.#options
    this.#made = this.#made.filter((made) => made.deref() !== undefined)
    for (const list of [lists.events, lists.venues]) {
      if (keepsIndexes()) void list.keepIndex(pause)
      this.#made.push(new WeakRef(list))
    }
    return lists
  }

  #newReplica(...[lists, carried, told]: Parameters<ReplicaMaker['newReplica']>): Replica {
    const { configuration, limits, time, observe } = this.#options
    let keeper: BaseKeeper | null = null
    const replica = new Replica({
      ...this.#options,
      observe: (observation) => {
        observe(observation)
        keeper?.note(observation)
        told(observation)
      },
      lists,
      ...(carried === null ? {} : { carried }),
    })
    if (configuration.base === null) return replica
    keeper = keepBase(configuration.base.directory, configuration, replica, limits, time, observe)
    this.#keepers.set(replica, keeper)
    // What the store had was taken first; where it had nothing, the reads wait for what the file has.
    if (carried === null) void keeper.load()
    else keeper.begin()
    return replica
  }

  #tell(news: ShareNews): void {
    const { observe } = this.#options
    if (news.kind === 'published') return observe({ kind: 'changes-published', delaysMs: news.delaysMs })
    if (news.kind === 'accepted') return observe({ kind: 'shorter-accepted', lists: news.lists })
    if (news.kind === 're-based') this.#rebases.set(news.why, (this.#rebases.get(news.why) ?? 0) + 1)
    if (news.kind === 'store-lost') this.#storeLost = news.why
    if (news.kind === 'store-found') this.#storeLost = null
    observe({ kind: 'share-changed', what: news.kind, detail: detailOf(news) })
  }
}

function detailOf(news: ShareNews): string | null {
  if ('why' in news) return news.why
  if (news.kind === 'took-reading') return `term ${news.term}${news.anew ? ', with what is held here' : ''}`
  if (news.kind === 'base-written') return `${news.rows} rows in ${news.bytes} bytes`
  return null
}
