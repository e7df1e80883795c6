import type { Runtime } from '../../test/support/child.ts'
import type { Figure } from '../report/figure.ts'
import { figureOf, RUNTIME_NAMES, show } from '../report/figure.ts'
import { median, spread } from '../report/statistics.ts'
import { megabytes, table } from '../report/table.ts'
import type { Loads } from './loads.ts'
import type { Publishing } from './publishing.ts'
import { FOLLOWERS, ROWS_A_SECOND } from './publishing.ts'
import type { Crowd, Requests } from './requests.ts'
import { CROWD, MANY, REFRESHES_A_SECOND } from './requests.ts'

export interface ClusterSize {
  readonly events: number
  readonly starts: number
  /** The goals of start times, in ms. */
  readonly followerMs: number
  readonly fileMs: number
}

/** The measurements of a cluster. */
export interface ClusterMeasurements {
  readonly sizes: readonly ClusterSize[]
  readonly loads: Loads[]
  readonly requests: Requests[]
  readonly crowds: Crowd[]
  readonly publishing: Publishing[]
  /** The durations of hand-overs, in ms. */
  readonly handOvers: Map<Runtime, readonly number[]>
}

const TEXT = `
Instances of a cluster with one Redis ([instances.md](instances.md)), with the defaults unless noted. No process is bound to a core: the leader, the followers, Redis,
the CRM and the measuring program share both. "Ready" is the time from the start of a process until it answers 200 for the last event, which is
requested about every millisecond: for a follower, which begins with the snapshot in Redis, and for a single service, which begins with its snapshot file; the lists are NDJSON
and unchanged. A stall is the longest answer time on one connection that sends request after request while the leader writes a snapshot, or while a
follower loads one beside what it serves. The size of the records is that of their row records in the snapshot, unpacked; the additional memory of a follower meanwhile is resident memory.
`.trim()

const CRM_TEXT = `
Requests to the CRM are counted by the CRM: statements in PostgreSQL (pg_stat_statements), requests in the stand-in for Dataverse. Refreshes come each
half second, and nothing changes. For a hand-over, the leader is killed: the requests until another instance reads, and for one second more, are compared with the usual
number in that time. ${CROWD} instances are started at once on an empty store.
`.trim()

const CHURN_TEXT = `
PostgreSQL with ${ROWS_A_SECOND} changed rows a second, in 20 transactions, and ${FOLLOWERS} followers. Publish-to-visible is the time from the leader's first
answer with a change to a follower's first; both get requests without a pause. CPU is the share of one core that the whole process takes; for the leader, only what it takes beyond
a single service with the same changes.
`.trim()

export function markdownOf({ loads, requests, crowds, publishing, handOvers }: ClusterMeasurements): string {
  const parts = [TEXT, loadsTable(loads)]
  if (requests.length > 0) parts.push(CRM_TEXT, requestsTable(requests, crowds))
  const silences = [...handOvers].map(([runtime, ms]) => [
    RUNTIME_NAMES[runtime],
    String(ms.length),
    spread(ms.map((each) => each / 1000)),
  ])
  if (silences.length > 0) {
    parts.push(
      'Three instances with the defaults, a maximum age of 30 s. The leader is killed and the CRM changed; the table shows the time until both others show the change.',
    )
    parts.push(table(['runtime', 'times', 's, median (least–most)'], silences))
  }
  if (publishing.length > 0) parts.push(CHURN_TEXT, publishingTable(publishing))
  return parts.join('\n\n')
}

function loadsTable(loads: readonly Loads[]): string {
  const head = ['runtime', 'events', 'follower ready ms', 'from its file ms', 'stall, making ms', 'stall, loading ms']
  const more = ['records MB', 'Redis MB', 'more while loading MB', '10 s later MB']
  return table(
    [...head, ...more],
    loads.map((one) => [
      RUNTIME_NAMES[one.runtime],
      String(one.events),
      spread(one.followerMs),
      spread(one.fileMs),
      show(one.makingMs),
      show(one.loadingMs),
      megabytes(one.recordBytes),
      megabytes(one.storeBytes),
      megabytes(one.secondBytes),
      megabytes(one.leftBytes),
    ]),
  )
}

function requestsTable(requests: readonly Requests[], crowds: readonly Crowd[]): string {
  const rows = requests.map(({ runtime, crm, calm, atHandOver }) => [
    RUNTIME_NAMES[runtime],
    crm,
    show(calm.get(1) ?? Number.NaN),
    show(calm.get(MANY) ?? Number.NaN),
    show(atHandOver),
  ])
  const starts = crowds.map(({ runtime, allReadyMs, readers, calm }) => [
    RUNTIME_NAMES[runtime],
    show(allReadyMs / 1000),
    String(readers),
    show(calm),
  ])
  const head = ['runtime', 'CRM', 'requests a second by 1', `by ${MANY}`, 'more at a hand-over']
  const crowdHead = ['runtime', `${CROWD} at once: all ready s`, 'leaders', 'PostgreSQL requests a second']
  return `${table(head, rows)}\n${table(crowdHead, starts)}`
}

function publishingTable(publishing: readonly Publishing[]): string {
  const percent = (share: number): string => show(share * 100)
  const head = ['runtime', 'changes seen', 'visible after ms, p50', 'p99', 'leader %', 'a follower %', 'Redis %']
  return table(
    [...head, 'records MB', 'Redis MB'],
    publishing.map((one) => [
      RUNTIME_NAMES[one.runtime],
      String(one.samples),
      show(one.p50Ms),
      show(one.p99Ms),
      percent(one.leaderShare),
      percent(one.followerShare),
      percent(one.storeShare),
      megabytes(one.recordBytes),
      megabytes(one.storeBytes),
    ]),
  )
}

export function figuresOf(measured: ClusterMeasurements): readonly Figure[] {
  const { sizes, requests, crowds, publishing, handOvers } = measured
  const published = (figure: string, ceiling: number, unit: string, of: (one: Publishing) => number): Figure =>
    figureOf(figure, `≤ ${ceiling}${unit}`, unit, (runtime) => {
      const one = publishing.find((each) => each.runtime === runtime)
      return { value: one === undefined ? null : of(one), ceiling }
    })
  const crms = [...new Set(requests.map(({ crm }) => crm))]
  const asked = (crm: string, runtime: Runtime): Requests | undefined =>
    requests.find((each) => each.runtime === runtime && each.crm === crm)
  const calmOf = (crm: string, runtime: Runtime, many: number): number =>
    asked(crm, runtime)?.calm.get(many) ?? Number.NaN
  // Tolerates refreshes at the edges of the measured window.
  const SAME = 1.05
  return [
    ...sizes.flatMap((size) => sizeFigures(measured, size)),
    ...crms.map((crm) =>
      figureOf(`requests to ${crm} with ${MANY} instances against 1`, '1.0×', '×', (runtime) => ({
        value: calmOf(crm, runtime, MANY) / calmOf(crm, runtime, 1),
        ceiling: SAME,
      })),
    ),
    figureOf(`requests to PostgreSQL with ${CROWD} instances against 1`, '1.0×', '×', (runtime) => ({
      value: (crowds.find((each) => each.runtime === runtime)?.calm ?? Number.NaN) / calmOf('PostgreSQL', runtime, 1),
      ceiling: SAME,
    })),
    ...crms.map((crm) =>
      figureOf(`reads of ${crm} at a hand-over beyond the usual`, 'one a list', '', (runtime) => ({
        value: (asked(crm, runtime)?.atHandOver ?? Number.NaN) / (calmOf(crm, runtime, 1) / (2 * REFRESHES_A_SECOND)),
        ceiling: 2,
      })),
    ),
    figureOf(`leaders among ${CROWD} instances that start at once`, 'exactly 1', '', (runtime) => ({
      value: crowds.find((each) => each.runtime === runtime)?.readers ?? null,
      ceiling: 1,
    })),
    figureOf(
      'longest time without changes after the leader is killed, with a maximum age of 30 s',
      '≤ 5 s',
      ' s',
      (runtime) => {
        const silencesMs = handOvers.get(runtime) ?? []
        return { value: silencesMs.length === 0 ? null : Math.max(...silencesMs) / 1000, ceiling: 5 }
      },
    ),
    published('publish-to-visible, p50', 10, ' ms', ({ p50Ms }) => p50Ms),
    published('publish-to-visible, p99', 50, ' ms', ({ p99Ms }) => p99Ms),
    published("the leader's share of it, of a core", 5, ' %', ({ leaderShare }) => leaderShare * 100),
    published('a follower, of a core', 2, ' %', ({ followerShare }) => followerShare * 100),
    published(`the store for ${FOLLOWERS} followers, of a core`, 3, ' %', ({ storeShare }) => storeShare * 100),
    published("the store's memory against the records", 2, '×', (one) => one.storeBytes / one.recordBytes),
  ]
}

function sizeFigures({ loads }: ClusterMeasurements, { events, followerMs, fileMs }: ClusterSize): readonly Figure[] {
  const figure = (name: string, ceiling: number, unit: string, of: (one: Loads) => number): Figure =>
    figureOf(`${name}, ${events} events`, `≤ ${ceiling}${unit}`, unit, (runtime) => {
      const one = loads.find((each) => each.runtime === runtime && each.events === events)
      return { value: one === undefined ? null : of(one), ceiling }
    })
  return [
    figure('follower ready', followerMs, ' ms', (one) => median(one.followerMs)),
    figure('ready from the snapshot file', fileMs, ' ms', (one) => median(one.fileMs)),
    figure('longest stall while a snapshot is made', 20, ' ms', ({ makingMs }) => makingMs),
    figure('longest stall while a snapshot is loaded', 20, ' ms', ({ loadingMs }) => loadingMs),
    figure(
      'second replica while a snapshot is loaded, against the records',
      1.3,
      '×',
      (one) => one.secondBytes / one.recordBytes,
    ),
    figure('second replica 10 s after a snapshot is loaded', 0.1, '×', (one) => one.leftBytes / one.recordBytes),
  ]
}
