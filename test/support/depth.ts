import type { Runtime } from './child.ts'

/**
 * The depth of the tests: `npm test` proves the essentials, `npm run test:all` everything. Only this file distinguishes
 * them. Variables of the environment override single values: `MARQUEE_MODEL_STEPS=1000000 npm test --
 * test/model/model.test.ts`.
 */
const isEverything = process.env['MARQUEE_TEST_DEPTH'] === 'everything'

function either<Value>(essentials: Value, everything: Value): Value {
  return isEverything ? everything : essentials
}

function given(variable: string, otherwise: number): number {
  return Number(process.env[variable] ?? otherwise)
}

/** The runtimes on which a test runs that finds the same on both, or nearly so. */
export const RUNTIMES: readonly Runtime[] = either(['bun'], ['bun', 'node'])

/**
 * Runs each case on one of the runtimes, in turn, where a case finds the same on each, and the runtimes the same in each
 * case.
 *
 * @param first the index of the runtime of the first case
 */
export function inTurn<Case extends readonly unknown[]>(
  cases: readonly Case[],
  first = 0,
): readonly (readonly [runtime: Runtime, ...Case])[] {
  return cases.map((one, index) => [RUNTIMES[(first + index) % RUNTIMES.length] ?? 'bun', ...one])
}

/** For what the runtimes do differently: signals, sockets, starts and ends. */
export const BOTH_RUNTIMES: readonly Runtime[] = ['bun', 'node']

/** The seed of the models, the histories and the properties. `npm run test:all` draws one and prints it at its end. */
export const SEED: number = given('MARQUEE_SEED', 1000)

/** The seed of the mutant hunts. Always the same, because some seeds miss a mutant that is hard to find. */
export const MUTANT_SEED: number = given('MARQUEE_MUTANT_SEED', 1)

export const MODEL_STEPS: number = given('MARQUEE_MODEL_STEPS', either(40_000, 160_000))

/** The number of random fleets of several instances. */
export const FLEET_RUNS: number = given('MARQUEE_FLEET_RUNS', either(2, 4))

/** Returns the seeds of a directed plan. */
export function planSeeds(count: number): readonly number[] {
  return Array.from({ length: either(1, count) }, (_, index) => index + 1)
}

const ESSENTIAL_MUTANTS: ReadonlySet<string> = new Set([
  'serves past the maximum age',
  'removes by absence after half a read',
  'lets an older read win',
  'ignores the shrink guard',
  'believes the loss of a short list',
  'holds back events that are over',
  'shows events before their venues',
  'shows events though their venues could not be read',
  'serves its snapshot before a read has confirmed it',
  'sends a heartbeat before its rows',
])

/** Returns the mutants that are hunted. */
export function huntedMutants<Mutant extends { readonly name: string }>(mutants: readonly Mutant[]): readonly Mutant[] {
  return either(
    mutants.filter(({ name }) => ESSENTIAL_MUTANTS.has(name)),
    mutants,
  )
}

/** How long faults are injected into real processes. */
export function faultSeconds(essentials: number, everything: number): number {
  return Math.min(given('MARQUEE_FAULT_SECONDS', either(essentials, everything)), 3600)
}

/** The values of `limits.idle` whose expiry is awaited. The default of 75 s takes long. */
export const IDLE_S: readonly number[] = either([2, 4], [2, 4, 8, 75])

/** The fraction of values tried at each configuration key: one of this many. */
export const CONFIGURED_VALUES: number = either(5, 1)

/** The duration of the soak test with 100,000 events. */
export const SOAK_S: number = given('MARQUEE_SOAK_S', 20)

/** The length of the fleets whose requests are counted. */
export const COUNTED_MS: number = either(300_000, 600_000)

/** The rows of the largest sheet, of which each row has cells, and of the one whose cells are empty. */
export const SHEET_ROWS: number = either(100_000, 1_048_574)
export const EMPTY_CELL_ROWS: number = either(10_000, 25_000)

/** Returns the first of the cases, of which one proves the essentials. */
export function caseOrAll<Case>(cases: readonly Case[], essentials = 1): readonly Case[] {
  return either(cases.slice(0, essentials), cases)
}

/** When a test counts as hung. It ends a hang and judges no speed, so it is far more than a slow machine needs. */
export const HUNG_AFTER_MS = 300_000

/** When the process of a test file counts as endless: no file takes a hundredth of that on a quiet machine. */
export const ENDLESS_AFTER_MS: number = 36 * HUNG_AFTER_MS

/** The limit of a test that goes on for some time by its nature. */
export function limitAfter(lastsMs: number): number {
  return lastsMs + HUNG_AFTER_MS
}
