import { randomBytes } from 'node:crypto'
import type { Configuration } from '../config/configuration.ts'
import { scopeOf } from '../config/scope.ts'
import { isLoopbackStore } from '../config/share.ts'
import { RECORDS } from '../crm/mapping/records-number.ts'
import type { Formatter } from '../formats/format.ts'
import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Observe } from '../observe/observation.ts'
import type { ShareCounts, ShareStatus } from '../operations/share-status.ts'
import { BASE_FORMAT } from '../replica/base.ts'
import type { RecordLists } from '../replica/frames.ts'
import type { ToldLists } from '../replica/held-lists.ts'
import type { RefreshSettings } from '../replica/list-replica.ts'
import type { Carried } from '../replica/base.ts'
import type { Crm } from '../replica/port.ts'
import { newLists, Replica } from '../replica/replica.ts'
import type { Time } from '../replica/time.ts'
import type { LogPosition } from '../share/entries.ts'
import { idOf } from '../share/entries.ts'
import { CurrentList } from '../share/current-list.ts'
import { RedisStore } from '../share/redis/redis-store.ts'
import type { ShareNews } from '../share/member.ts'
import { Share } from '../share/share.ts'
import { Signing } from '../share/signing.ts'
import type { FleetNews } from '../share/watched-store.ts'
import { WatchedStore } from '../share/watched-store.ts'
import { VERSION } from './surroundings.ts'

export type ShareSettings = NonNullable<Configuration['share']>

export interface SharingOptions {
  readonly configuration: Configuration
  readonly settings: ShareSettings
  readonly crm: Crm
  readonly formatter: Formatter
  /** Live, as the limits are. */
  readonly freshness: RefreshSettings
  readonly limits: { readonly memoryBytes: number }
  /** Whether lists are kept in order, as of now. */
  readonly keepsIndexes: () => boolean
  readonly time: Time
  readonly observe: Observe
  readonly pause: () => Promise<void>
}

const LEAST_BEAT_MS = 50
const MOST_BEAT_MS = 500
/** How often a start looks whether there is something to answer from. */
const LOOK_MS = 10

/** The store that the section names, for instances of this configuration. */
function storeOf({ url, ca, name }: ShareSettings, configuration: Configuration): RedisStore {
  return new RedisStore({ url, ca, name }, sharedScope(configuration))
}

/** Which records instances share: those of another scope have another log. */
export function sharedScope(configuration: Configuration): string {
  return scopeOf(configuration, [BASE_FORMAT, RECORDS])
}

function signingOf({ key }: ShareSettings, configuration: Configuration): Signing {
  const keys = key?.reveal().split('\n') ?? []
  return new Signing(
    sharedScope(configuration),
    keys.map((line) => line.trim()),
  )
}

/** This instance among those that share what one of them reads: what it answers from, and what it tells of itself. */
export class Sharing implements ToldLists {
  readonly events: CurrentList<EventRecord>
  readonly venues: CurrentList<VenueRecord>
  readonly #options: SharingOptions
  readonly #store: WatchedStore
  readonly #share: Share
  readonly #rebases = new Map<string, number>()
  /** What callers get, and what may take its place. */
  #made: RecordLists[] = []
  #replica: Replica | null = null
  #lastError: string | null = null
  #fleet: FleetNews | null = null
  #unfit = ''
  #isStoreLost = false

  constructor(options: SharingOptions) {
    this.#options = options
    const { configuration, settings, crm, freshness, limits, time, pause } = options
    const unreached = (why: string): void => this.#unreached(why)
    this.#store = new WatchedStore(storeOf(settings, configuration), () => time.now().monotonicMs, unreached)
    this.#share = new Share({
      store: this.#store,
      signing: signingOf(settings, configuration),
      settings: freshness,
      limits,
      beatMs: settings.beatMs ?? Math.min(MOST_BEAT_MS, Math.max(LEAST_BEAT_MS, freshness.boundMs / 20)),
      readersWhenLost: settings.readersWhenLost,
      version: VERSION,
      time,
      draw: randomBytes,
      pause,
      tell: (news) => this.#tell(news),
      examine: () => this.#examine(),
      newLists: () => this.#newLists(),
      newReplica: (lists, carried, readEnded) => this.#newReplica(lists, carried, readEnded),
    })
    const share = this.#share
    this.events = new CurrentList(() => share.served.events, crm.events.availabilityEveryMs !== null)
    this.venues = new CurrentList(() => share.served.venues, crm.venues.availabilityEveryMs !== null)
  }

  start(): void {
    const { settings, observe } = this.#options
    if (settings.key === null && !isLoopbackStore(settings)) {
      observe({ kind: 'share-changed', what: 'unsigned', detail: null })
    }
    this.#share.start()
  }

  /** Says that it goes, where it reads; resolves when nothing runs any more. */
  async stop(): Promise<void> {
    await this.#share.stop()
    await this.#replica?.stop()
  }

  /** Resolves when both lists may be answered from, as far as that is known. */
  async untilRead(): Promise<void> {
    const { time } = this.#options
    while (this.events.ageMs(time.now()) === null || this.venues.ageMs(time.now()) === null) {
      await new Promise<void>((resolve) => void time.after(LOOK_MS, resolve))
    }
  }

  async untilReadsEnd(): Promise<void> {
    await this.#replica?.untilReadsEnd()
  }

  /** What records look like, or the settings, have changed; what is held stays. */
  adopt(looksOther: boolean): void {
    for (const { events, venues } of this.#made) {
      if (looksOther) for (const list of [events, venues]) list.forgetBodies()
      if (!this.#options.keepsIndexes()) events.index = venues.index = null
      else if (events.index === null) this.#keepIndexes({ events, venues })
    }
    this.#replica?.adopt(false)
  }

  /** As `Replica` does; null where another instance reads: it has to be said there. */
  acceptShorter(): readonly string[] | null {
    const isReader = this.#share.role === 'reader' || this.#share.role === 'alone'
    return isReader ? (this.#replica?.acceptShorter() ?? null) : null
  }

  /** The instance that reads the CRM for this one; null where none is known, or this one does. */
  get readBy(): string | null {
    const { role, reader } = this.status()
    return role === 'follower' ? reader : null
  }

  status(): ShareStatus {
    const { role, isConnected, instance, position } = this.#share
    const { time } = this.#options
    const { base, fleet } = this.#store
    // What is held here has passed it: it was verified.
    if (fleet !== null && position !== null && !isAfter(fleet.id, position)) this.#fleet = fleet
    const told = this.#fleet
    return {
      role,
      connected: isConnected,
      instance,
      reader: role === 'reader' ? instance : (told?.reader ?? null),
      term: position?.term ?? 0,
      position: position === null ? null : idOf(position),
      instances: told?.instances ?? 0,
      versions: told?.versions ?? [],
      standsIn: told?.standsIn ?? [],
      lastError: this.#lastError ?? this.#store.failure,
      base: base === null ? null : { rows: base.rows, bytes: base.bytes, ageMs: time.now().monotonicMs - base.atMs },
    }
  }

  counts(): ShareCounts {
    const { entries, bytes, terms } = this.#store
    return {
      status: this.status(),
      owed: this.#share.owed,
      terms,
      rebases: this.#rebases,
      entries: [...entries].map(([key, count]) => {
        const [kind = '', direction = ''] = key.split(' ')
        return { kind, direction, count }
      }),
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
    if (this.#options.keepsIndexes()) this.#keepIndexes(lists)
    // What callers get, and what may take its place: never more are held.
    this.#made = [...this.#made.slice(-1), lists]
    return lists
  }

  #keepIndexes({ events, venues }: RecordLists): void {
    const { pause } = this.#options
    void events.keepIndex(pause)
    void venues.keepIndex(pause)
  }

  #newReplica(
    lists: RecordLists,
    carried: Readonly<Record<ListName, Carried>> | null,
    readEnded: (list: ListName) => void,
  ): Replica {
    const { crm, formatter, freshness, limits, time, observe, pause } = this.#options
    this.#replica = new Replica({
      crm,
      formatter,
      settings: freshness,
      limits,
      time,
      observe: (observation) => {
        observe(observation)
        if (observation.kind !== 'read-ended' || observation.read.kind === 'addition') return
        readEnded(observation.read.list === 'events' ? 'events' : 'venues')
      },
      pause,
      lists,
      ...(carried === null ? {} : { carried }),
    })
    return this.#replica
  }

  /** Where there never was a connection, that is said here. */
  #unreached(why: string): void {
    if (this.#share.isConnected || this.#isStoreLost) return
    this.#tell({ kind: 'store-lost', why })
  }

  #tell(news: ShareNews): void {
    const { observe } = this.#options
    if (news.kind === 'store-lost') this.#isStoreLost = true
    if (news.kind === 'store-found') this.#isStoreLost = false
    if (news.kind === 're-based') this.#rebases.set(news.why, (this.#rebases.get(news.why) ?? 0) + 1)
    const why = 'why' in news ? news.why : null
    if (news.kind === 'store-lost' || news.kind === 'base-ignored' || news.kind === 'entry-refused')
      this.#lastError = why
    if (news.kind === 'store-found' || news.kind === 'took-reading') this.#lastError = null
    observe({ kind: 'share-changed', what: news.kind, detail: detailOf(news) })
  }
}

function isAfter(id: string, { term, number }: LogPosition): boolean {
  const [idTerm = 0, idNumber = 0] = id.split('-').map(Number)
  return idTerm === term ? idNumber > number : idTerm > term
}

function detailOf(news: ShareNews): string | null {
  if ('why' in news) return news.why
  if (news.kind === 'took-reading') return `term ${news.term}${news.anew ? ', with what is held here' : ''}`
  if (news.kind === 'base-written') return `${news.rows} rows in ${news.bytes} bytes`
  return null
}
