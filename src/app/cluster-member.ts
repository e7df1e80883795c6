import { dropIndex, keepIndex } from '../order/list-index.ts'
import { randomBytes } from 'node:crypto'
import { type ClusterSettings, isLoopbackStore, mayBeStore } from '../config/configuration.ts'
import type { EventRecord } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Observation } from '../observe/observation.ts'
import type { ClusterStatus } from '../operations/status.ts'
import type { RecordLists } from '../records/row-records.ts'
import { Replica } from '../sync/replica.ts'
import type { ServedLists } from '../sync/served-list.ts'
import { elapsedMs } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'
import type { RecordList } from '../records/record-list.ts'
import { dataFingerprint } from '../snapshot/data-fingerprint.ts'
import { type SnapshotKeeper, keepSnapshot } from '../snapshot/snapshot-keeper.ts'
import { type RedisSettings, RedisStore } from '../cluster/redis/redis-store.ts'
import { Cluster, heartbeatMsOf } from '../cluster/cluster.ts'
import { VERSION } from './command-context.ts'
import { type Reading, type ReadingOptions, type SettingsChange, endReads, isCutOff } from './reading.ts'

type NewReplica = ConstructorParameters<typeof Cluster>[0]['newReplica']

/** The interval at which a starting instance looks for data. It grows, because a start may wait for hours. */
const LOOK_MS = { least: 10, most: 1000 } as const
const LOOKS_PART = 1 / 16

/** Returns how the store is reached. */
function storeSettings({ url, ca, name, sentinel, allowInsecure }: ClusterSettings): RedisSettings {
  return { url, ca, name, sentinel, mayUse: (other) => mayBeStore(other, allowInsecure) }
}

/** This instance as a member of a cluster: it leads, follows, or reads alone. */
export class ClusterMember implements Reading {
  readonly #options: ReadingOptions
  readonly #section: ClusterSettings
  readonly #cluster: Cluster
  readonly #store: RedisStore
  readonly #ended = new AbortController()
  /** The served lists and those that may replace them. Weak, so that replaced lists can be collected. */
  #made: WeakRef<RecordList<EventRecord> | RecordList<VenueRecord>>[] = []
  #keepsIndexes: boolean
  readonly #keepers = new WeakMap<Replica, SnapshotKeeper>()
  /** Why the CRM could not be read from here when it was last examined. */
  #unfit: ReadonlySet<string> = new Set()

  constructor(options: ReadingOptions, section: ClusterSettings) {
    this.#options = options
    this.#section = section
    this.#keepsIndexes = options.keepsIndexes
    const { configuration, settings, limits, time, pause } = options
    // An instance whose connector could not be started shares nothing with others, because nobody knows its mapping.
    const scope = dataFingerprint(configuration, options.crm) ?? randomBytes(6).toString('hex')
    const heartbeatMs = (): number => heartbeatMsOf(section.heartbeatMs, settings().maxAgeMs)
    this.#store = new RedisStore(storeSettings(section), scope)
    this.#cluster = new Cluster({
      store: this.#store,
      settings,
      limits,
      heartbeat: {
        get ms() {
          return heartbeatMs()
        },
      },
      readAlone: section.readAlone,
      version: VERSION,
      time,
      draw: (bytes) => randomBytes(bytes).toString('hex'),
      pause,
      observe: (observation) => this.#observe(observation),
      examine: () => this.#examine(),
      newLists: () => this.#newLists(),
      marking: (lists, isAll) => this.#options.changes?.marking(lists, isAll) ?? (() => {}),
      newReplica: (lists, resumeState, note) => this.#newReplica(lists, resumeState, note),
    })
  }

  readonly lists = (): ServedLists => this.#cluster.served

  start(): void {
    const { observe } = this.#options
    if (this.#section.url.reveal().startsWith('redis:') && !isLoopbackStore(this.#section)) {
      observe({ kind: 'cluster-changed', what: 'unencrypted', detail: null })
    }
    this.#cluster.start()
  }

  /** Hands over if this instance is the leader. Resolves when everything has stopped. */
  async stop(): Promise<void> {
    const { crm, time } = this.#options
    const { own } = this.#cluster.member
    // The leader writes the snapshot file.
    const keeper = own === null ? undefined : this.#keepers.get(own.replica)
    this.#ended.abort()
    const ended = this.#cluster.stop().then(() => own?.replica.stop())
    await endReads(ended, crm, time)
    await keeper?.stop()
  }

  /** Resolves when both lists have an age, or when the instance stops. */
  async untilRead(): Promise<void> {
    const { time } = this.#options
    const { signal } = this.#ended
    const begun = time.now()
    for (;;) {
      const now = time.now()
      const { events, venues } = this.lists()
      if (events.ageMs(now) !== null && venues.ageMs(now) !== null) return
      const waitMs = Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, elapsedMs(begun, now) * LOOKS_PART))
      await sleep(waitMs, time, signal)
      if (signal.aborted) return
    }
  }

  adopt({ formatChanged, keepsIndexes }: SettingsChange): void {
    this.#keepsIndexes = keepsIndexes
    for (const made of this.#made) {
      const list = made.deref()
      if (list === undefined) continue
      if (formatChanged) list.ready.clear()
      if (!keepsIndexes) dropIndex(list)
      else if (list.order === null) void keepIndex(list, this.#options.pause)
    }
    this.#cluster.member.own?.replica.applySettings(false)
  }

  /** Asks the leader to accept shorter lists. Returns their names; `null` if no leader answers. */
  acceptShorter(): Promise<readonly string[] | null> {
    return this.#cluster.member.accept()
  }

  status(): ReturnType<Reading['status']> {
    const { member } = this.#cluster
    const { own, traffic, claims, loads, leader } = member
    const { entries, bytes } = traffic
    const cluster = { status: this.#status(), outbox: leader?.unsent ?? 0, claims, loads, entries, bytes }
    const keeper = own === null ? undefined : this.#keepers.get(own.replica)
    return { snapshot: keeper?.onDisk() ?? null, snapshotError: keeper?.failure ?? null, cluster }
  }

  #status(): ClusterStatus {
    const { member, storeLost } = this.#cluster
    const { role, isConnected, instance, position, beat } = member
    const epoch = (member.leader ?? member.target)?.epoch ?? 0
    return {
      role,
      connected: isConnected,
      instance,
      leader: role === 'leader' ? instance : (beat?.leader ?? null),
      epoch,
      position: position === null ? null : `${epoch}-${position.seq}`,
      instances: beat?.instances ?? 0,
      versions: beat?.versions ?? [],
      candidates: beat?.candidates ?? [],
      lastError: storeLost ?? member.trouble,
    }
  }

  /** Checks if this instance can read what the configuration names. Reports each problem once. */
  async #examine(): Promise<boolean> {
    const problems = (await this.#options.crm.examine?.())?.problems ?? []
    const before = this.#unfit
    this.#unfit = new Set(problems.map(({ message }) => message))
    for (const detail of this.#unfit) {
      if (!before.has(detail)) this.#observe({ kind: 'cluster-changed', what: 'unfit', detail })
    }
    return problems.length === 0
  }

  #observe(observation: Observation): void {
    if (!this.#ended.signal.aborted || !isCutOff(observation)) this.#options.observe(observation)
  }

  #newLists(): RecordLists {
    const lists = this.#options.listMaker.make()
    const { pause } = this.#options
    this.#made = this.#made.filter((made) => made.deref() !== undefined)
    for (const list of [lists.events, lists.venues]) {
      if (this.#keepsIndexes) void keepIndex(list, pause)
      this.#made.push(new WeakRef(list))
    }
    return lists
  }

  #newReplica(...[lists, resumeState, note]: Parameters<NewReplica>): Replica {
    const { configuration, crm, limits, time, observe } = this.#options
    let keeper: SnapshotKeeper | null = null
    const replica = new Replica({
      ...this.#options,
      observe: (observation) => {
        this.#observe(observation)
        keeper?.note(observation)
        note(observation)
      },
      lists,
      ...(resumeState === null ? {} : { resumeState }),
    })
    if (configuration.snapshot === null) return replica
    const { directory } = configuration.snapshot
    keeper = keepSnapshot({ directory, configuration, crm, replica, limits, time, observe })
    this.#keepers.set(replica, keeper)
    // The store's snapshot has priority. Without one, the first reads wait for the file.
    if (resumeState === null) void keeper.load()
    else keeper.begin()
    return replica
  }
}
