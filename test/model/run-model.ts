import { ListMaker } from '../../src/records/row-records.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { Guid } from '../../src/domain/guid.ts'
import { unreachable } from '../../src/domain/unreachable.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import { Admissions } from '../../src/sync/served-list.ts'
import type { Crm, ListSource } from '../../src/sync/port.ts'
import { MOST_STAGED } from '../../src/sync/read.ts'
import { Replica } from '../../src/sync/replica.ts'
import type { Time } from '../../src/time/time.ts'
import { Checker } from './checker.ts'
import { Client } from './client.ts'
import { Exchange, Weather } from './exchange.ts'
import { fullRead } from './full-read.ts'
import { glimpseEvent, glimpseVenue } from './glimpse.ts'
import { History } from './history.ts'
import type { Running } from './host.ts'
import { CLOSED, Host } from './host.ts'
import { Misfortune } from './misfortune.ts'
import type { Parts } from './model-source.ts'
import { ownConnector } from './own-connector.ts'
import { ReadLog } from './read-log.ts'
import { endOfSeason, eventOf, formatter, venueOf } from './records.ts'
import type { Setting } from './setting.ts'
import { Table } from './table.ts'
import { timeDelta } from './time-delta.ts'
import { tokenDelta } from './token-delta.ts'
import { settled, VirtualTime } from './virtual-time.ts'

export interface Outcome {
  readonly steps: number
  readonly shown: number
  readonly notFound: number
  readonly refused: number
  readonly changes: number
  readonly faults: number
  readonly requests: number
  readonly virtualMs: number
  readonly wrongs: number
  readonly wrong: readonly string[]
}

/** The parts of a run that a mutant can reach. */
export interface Stage {
  readonly time: VirtualTime
  readonly replica: Replica
}

export interface RunOptions {
  readonly setting: Setting
  readonly seed: number
  readonly steps: number
  /** The replica's time, if a mutant needs a different one. */
  readonly timeFor?: (time: VirtualTime) => Time
  readonly onStage?: (stage: Stage) => void
  /** Ends the run at this time at the latest. */
  readonly untilMs?: number
  /** Ends the run at the first violation. */
  readonly untilWrong?: boolean
}

/**
 * Runs CRM, replica and callers for a number of steps, then ends all trouble and compares the held lists with the CRM.
 */
export async function runModel({
  setting,
  seed,
  steps,
  timeFor,
  onStage,
  untilMs,
  untilWrong,
}: RunOptions): Promise<Outcome> {
  MOST_STAGED.bytes = setting.mostStagedBytes
  const time = new VirtualTime(seed)
  const chance = time.chance.fork()
  const tables = { events: new Table('events'), venues: new Table('venues') }
  const weather = new Weather(setting.trouble)
  const exchanges = {
    events: new Exchange(time, chance.fork(), weather, setting.latencyMs),
    venues: new Exchange(time, chance.fork(), weather, setting.latencyMs),
  }
  const log = new ReadLog()
  const replicaTime = timeFor?.(time) ?? time
  const versionOf: Parts<unknown>['versionOf'] = (state) =>
    setting.strategy === 'time-delta' ? state.updatedAtS : Number.NaN
  const shared = { setting, log, time, versionOf }
  const { wallMs } = time.peek()
  const { seasonMs } = setting
  const timesAt = (id: Guid, atMs: number): Partial<EventRecord> =>
    seasonMs === 0 ? {} : endOfSeason(id, wallMs + (Math.floor(atMs / seasonMs) + 1) * seasonMs)
  const crmOf = (): Crm => ({
    events: sourceFor<EventRecord>({
      ...shared,
      table: tables.events,
      exchange: exchanges.events,
      chance: chance.fork(),
      recordOf: (id, { at, epoch, sold, venue }) =>
        eventOf(id, { Name: `${epoch}`, TicketsAvailable: sold, VenueId: venue, ...timesAt(id, at) }),
    }),
    venues: sourceFor<VenueRecord>({
      ...shared,
      table: tables.venues,
      exchange: exchanges.venues,
      chance: chance.fork(),
      recordOf: (id, { epoch }) => venueOf(id, `${epoch}`),
    }),
    close: () => Promise.resolve(),
  })
  const open = (crm: Crm): Running => {
    // The reads of the previous process ended with it, without a report.
    log.open.clear()
    const replica = new Replica({
      crm,
      lists: new ListMaker(formatter).make(),
      settings: () => setting,
      limits: () => ({ memoryBytes: Number.POSITIVE_INFINITY }),
      time: replicaTime,
      observe: (observation) => {
        if (observation.kind === 'shrunk') log.hold(observation.list, time.trueMs)
        if (observation.kind !== 'read-ended' || observation.read.message === CLOSED) return
        log.end(observation.read, time.trueMs)
        host.note(observation.read.kind)
      },
      pause: () => Promise.resolve(),
    })
    return {
      replica,
      admissions: new Admissions(
        () => setting,
        () => setting,
        replicaTime,
      ),
    }
  }
  const host: Host = new Host(open, crmOf, { setting, time, chance })
  onStage?.({ time, replica: host.running.replica })
  const checker = new Checker(tables, setting, log, time)
  const history = new History(tables.events, tables.venues, setting, time, chance.fork())
  const misfortune = new Misfortune(setting, weather, Object.values(tables), host, log, time, chance.fork())
  for (let index = 0; index < setting.clients; index++) {
    new Client(host, checker, time, chance.fork(), setting).live()
  }
  history.begin()
  misfortune.begin()
  host.begin()
  let taken = 0
  if (untilMs !== undefined) time.after(untilMs, () => {})
  for (; taken < steps; taken++) {
    await time.step()
    if (untilMs !== undefined && time.trueMs >= untilMs) break
    if (untilWrong === true && checker.wrongs > 0) break
  }
  if (checker.wrongs === 0 && untilWrong !== true && untilMs === undefined) {
    history.end()
    misfortune.end()
    host.end()
    taken += await heal(time, log, setting, tables, host)
    const { replica } = host.running
    checker.compare(replica.events, (id) => glimpseEvent(replica, id))
    checker.compare(replica.venues, (id) => glimpseVenue(replica, id))
  }
  return {
    steps: taken,
    ...checker.counts,
    changes: history.changes,
    faults: exchanges.events.faults + exchanges.venues.faults + misfortune.strokes + host.restarts,
    requests: exchanges.events.requests + exchanges.venues.requests,
    virtualMs: time.trueMs,
    wrongs: checker.wrongs,
    wrong: checker.wrong,
  }
}

/** Lets time pass until both lists were read in full and then updated once more. */
async function heal(
  time: VirtualTime,
  log: ReadLog,
  setting: Setting,
  tables: { readonly events: Table; readonly venues: Table },
  host: Host,
): Promise<number> {
  let healedMs = time.trueMs
  const patienceMs = healedMs + 3 * setting.fullReadEveryMs + 600_000
  let steps = 0
  const isWhole = (list: string): boolean => log.auditedAt(list, healedMs) < Number.POSITIVE_INFINITY
  while (time.trueMs < patienceMs && !(isWhole('events') && isWhole('venues'))) {
    await time.step()
    steps++
    const isRestored = ({ visible, garbled }: Table): boolean => visible === null && garbled.size === 0
    if (!isRestored(tables.events) || !isRestored(tables.venues)) {
      healedMs = time.trueMs
      continue
    }
    // Lost rights may have deleted so much that the operator has to accept it.
    const { events, venues } = host.running.replica
    for (const list of [events, venues])
      if (list.reader.guard.shrunk !== null && !list.reader.guard.acceptsShorter) list.acceptShorter()
    await settled()
  }
  for (const enoughMs = time.trueMs + 4 * setting.refreshEveryMs + 1000; time.trueMs < enoughMs; steps++)
    await time.step()
  return steps
}

export function sourceFor<Item>(parts: Parts<Item>): ListSource<Item> {
  if (parts.setting.ways !== null) return ownConnector(parts, parts.setting.ways)
  switch (parts.setting.strategy) {
    case 'token-delta':
      return tokenDelta(parts)
    case 'time-delta':
      return timeDelta(parts)
    case 'full-read':
      return fullRead(parts)
    default:
      return unreachable(parts.setting.strategy)
  }
}
