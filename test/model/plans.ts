import type { Setting } from './setting.ts'
import { settingOf } from './setting.ts'

export interface Plan {
  readonly name: string
  readonly setting: Setting
}

const STRATEGIES = ['token-delta', 'time-delta', 'full-read'] as const

const fast = { maxAgeMs: 200, latencyMs: 10 } as const
const lagging = { strategy: 'time-delta', serverLagsMs: [0, 3000, 20_000] } as const
const apart = { maxAgeMs: 30_000, readsTickets: true } as const

/** Without trouble, except that cursors sometimes stop working. */
export const CURSORS_DIE = {
  strategy: 'token-delta',
  maxAgeMs: 1000,
  trouble: 0,
  cursorDeaths: 0.02,
  fullReadEveryMs: 60_000,
} as const

/** Most reads of changes are only a delta, which cannot report deletions. */
export const ID_SCANS_SELDOM = {
  strategy: 'time-delta',
  maxAgeMs: 30_000,
  refreshEveryMs: 1000,
  idScanEveryMs: 10_000,
  fullReadEveryMs: 60_000,
  trouble: 0,
} as const

/** Lists of a theatre with a few rows. Nothing but lost rights takes many of them at once. */
export const SHORT = { maxAgeMs: 1000, shrinkGuardMs: 60_000 } as const

/** Most events end together, again and again. */
export const FESTIVAL = { maxAgeMs: 1000, trouble: 0, seasonMs: 20_000, shrinkGuardMs: 60_000 } as const

/** A file that is written in place. */
export const HALF_WRITTEN = { strategy: 'full-read', maxAgeMs: 3000, snapshot: true, halfWritten: 0.3 } as const

/** What the methods of a connector make of it. */
export const CONNECTORS = [
  { strategy: 'full-read', ways: ['full'] },
  { strategy: 'token-delta', ways: ['full', 'changes'] },
  { strategy: 'time-delta', ways: ['full', 'since', 'ids', 'byId'] },
  { strategy: 'time-delta', ways: ['full', 'since', 'ids'] },
  { strategy: 'time-delta', ways: ['full', 'since'] },
] as const

/** The runs of the model: each strategy with each maximum age, then variations for some. */
export const PLANS: readonly Plan[] = [
  ...CONNECTORS.flatMap((connector) => [
    plan(`a connector with ${connector.ways.join(', ')}`, { ...connector, maxAgeMs: 1000 }),
    plan(`a connector with ${connector.ways.join(', ')}, maximum age 30 s`, { ...connector, maxAgeMs: 30_000 }),
    plan(`a connector with ${connector.ways.join(', ')}, restarts`, {
      ...connector,
      maxAgeMs: 1000,
      restartEveryMs: 10_000,
    }),
  ]),
  ...STRATEGIES.flatMap((strategy) => [
    plan(`${strategy}, maximum age 0`, { strategy, maxAgeMs: 0 }),
    plan(`${strategy}, maximum age 200 ms`, { strategy, ...fast }),
    plan(`${strategy}, maximum age 1 s`, { strategy, maxAgeMs: 1000 }),
    plan(`${strategy}, maximum age 30 s`, { strategy, maxAgeMs: 30_000 }),
    plan(`${strategy}, stale answers while the CRM fails`, { strategy, maxAgeMs: 1000, staleIfErrorMs: 60_000 }),
    plan(`${strategy}, tickets read by themselves`, { strategy, ...apart }),
    plan(`${strategy}, hidden rows are reported row by row`, { strategy, maxAgeMs: 1000, serverFilters: false }),
    plan(`${strategy}, a wall clock that is set`, { strategy, maxAgeMs: 30_000, clocks: 'set' }),
    plan(`${strategy}, a machine that is suspended`, { strategy, maxAgeMs: 30_000, clocks: 'suspended' }),
    plan(`${strategy}, few may wait and not for long`, { strategy, maxAgeMs: 1000, waiting: 3, waitForMs: 400 }),
    plan(`${strategy}, restarts from its snapshot`, { strategy, maxAgeMs: 1000, restartEveryMs: 10_000 }),
    plan(`${strategy}, restarts while the CRM fails`, {
      strategy,
      maxAgeMs: 1000,
      restartEveryMs: 10_000,
      staleIfErrorMs: 60_000,
    }),
    plan(`${strategy}, nothing goes wrong`, { strategy, maxAgeMs: 1000, trouble: 0 }),
  ]),
  ...STRATEGIES.flatMap((strategy) => [
    plan(`${strategy}, unreadable rows`, { strategy, maxAgeMs: 1000, garbles: true }),
    plan(`${strategy}, the old list stays served`, { strategy, maxAgeMs: 1000, garbles: true, shrinkGuardMs: 60_000 }),
    plan(`${strategy}, the old list stays served, and withheld rows are reported`, {
      strategy,
      maxAgeMs: 30_000,
      garbles: true,
      shrinkGuardMs: 600_000,
      serverFilters: false,
    }),
    plan(`${strategy}, the old list stays served over restarts`, {
      strategy,
      maxAgeMs: 1000,
      garbles: true,
      shrinkGuardMs: 60_000,
      restartEveryMs: 10_000,
    }),
  ]),
  ...STRATEGIES.flatMap((strategy) => [
    plan(`${strategy}, short lists`, { strategy, ...SHORT, events: 6, venues: 3 }),
    plan(`${strategy}, one event in one venue`, { strategy, ...SHORT, events: 1, venues: 1 }),
    plan(`${strategy}, most events end at once`, { strategy, ...FESTIVAL }),
    plan(`${strategy}, most events end at once, with trouble`, { strategy, ...FESTIVAL, trouble: 1 }),
  ]),
  plan('token-delta, tickets read by themselves, many changes', {
    strategy: 'token-delta',
    maxAgeMs: 30_000,
    readsTickets: true,
    changeEveryMs: 150,
    thinkMs: 300,
  }),
  plan('token-delta, audits one after the other', {
    strategy: 'token-delta',
    maxAgeMs: 1000,
    latencyMs: 150,
    fullReadEveryMs: 2000,
    changeEveryMs: 60,
  }),
  plan('token-delta, renewed on demand', { strategy: 'token-delta', maxAgeMs: 1000, refreshEveryMs: 5000 }),
  plan('token-delta, a slow CRM with much trouble', {
    strategy: 'token-delta',
    ...apart,
    latencyMs: 400,
    changeEveryMs: 300,
    trouble: 3,
  }),
  ...STRATEGIES.flatMap((strategy) => [
    plan(`${strategy}, additions are written before the read ends`, { strategy, maxAgeMs: 1000, mostStagedBytes: 500 }),
    plan(`${strategy}, additions are written before the read ends, and withheld rows are reported`, {
      strategy,
      maxAgeMs: 1000,
      mostStagedBytes: 500,
      serverFilters: false,
      garbles: true,
      shrinkGuardMs: 60_000,
    }),
  ]),
  plan('full-read, a file that is read while it is written', { ...HALF_WRITTEN, mostStagedBytes: 500 }),
  plan('full-read, a file', { strategy: 'full-read', maxAgeMs: 1000, snapshot: true }),
  plan('full-read, a file with withheld rows', {
    strategy: 'full-read',
    maxAgeMs: 30_000,
    snapshot: true,
    serverFilters: false,
  }),
  plan('token-delta, nothing goes wrong but cursors', CURSORS_DIE),
  plan('time-delta, each read a snapshot', { strategy: 'time-delta', maxAgeMs: 1000, snapshot: true }),
  plan('time-delta, each read a snapshot, reported row by row', {
    strategy: 'time-delta',
    maxAgeMs: 30_000,
    snapshot: true,
    serverFilters: false,
  }),
  plan('time-delta, occasional id scans', { ...ID_SCANS_SELDOM, trouble: 1 }),
  plan('time-delta, occasional id scans, nothing goes wrong', ID_SCANS_SELDOM),
  plan('time-delta, servers that lag', { ...lagging, maxAgeMs: 30_000 }),
  plan('time-delta, servers that lag beyond the maximum age', { ...lagging, maxAgeMs: 1000 }),
]

function plan(name: string, given: Parameters<typeof settingOf>[0]): Plan {
  return { name, setting: settingOf(given) }
}
