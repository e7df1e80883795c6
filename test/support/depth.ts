/**
 * How deep the tests go: `npm test` proves the essentials, `npm run test:all` everything. No other file of the tests tells the two apart. A
 * variable of the environment goes further: `MARQUEE_MODEL_STEPS=1000000 npm test -- test/model/model.test.ts`.
 */
const isEverything = process.env['MARQUEE_TEST_DEPTH'] === 'everything'

function either<Value>(essentials: Value, everything: Value): Value {
  return isEverything ? everything : essentials
}

function given(variable: string, otherwise: number): number {
  return Number(process.env[variable] ?? otherwise)
}

/** Where chance begins in the models, the histories and the properties. `npm run test:all` draws one, and names it at its end. */
export const SEED: number = given('MARQUEE_SEED', 1000)

/** Where chance begins when mutants are hunted: always the same, or one that is hard to find would be missed now and then. */
export const MUTANT_SEED: number = given('MARQUEE_MUTANT_SEED', 1)

export const MODEL_STEPS: number = given('MARQUEE_MODEL_STEPS', either(40_000, 160_000))

/** Drawn fleets of several instances. */
export const FLEET_RUNS: number = given('MARQUEE_FLEET_RUNS', either(3, 12))

/** The seeds of a directed plan. */
export function planSeeds(count: number): readonly number[] {
  return Array.from({ length: either(1, count) }, (_, index) => index + 1)
}

const ESSENTIAL_MUTANTS: ReadonlySet<string> = new Set([
  'serves past the maximum age',
  'removes by absence after half a read',
  'lets an older page win',
  'ignores the shrink guard',
  'shows events before their venues',
  'serves what lies in its snapshot before a read has confirmed it',
  "counts the age from a heartbeat's arrival",
  'takes an entry over a gap',
  'sends a heartbeat before its rows',
  'believes what nobody signed',
])

/** The mutants that are hunted. */
export function huntedMutants<Mutant extends { readonly name: string }>(mutants: readonly Mutant[]): readonly Mutant[] {
  return either(
    mutants.filter(({ name }) => ESSENTIAL_MUTANTS.has(name)),
    mutants,
  )
}

/** How long chance strikes at real processes. */
export function faultSeconds(essentials: number, everything: number): number {
  return Math.min(given('MARQUEE_FAULT_SECONDS', either(essentials, everything)), 3600)
}

/** `limits.idle` of the services that are waited for: the default one takes its time. */
export const IDLE_S: readonly number[] = either([2, 4], [2, 4, 8, 75])

/** Of the values that are tried at each key of the configuration, one in so many. */
export const CONFIGURED_VALUES: number = either(5, 1)

/** How long the soak of 100,000 events lasts. */
export const SOAK_S: number = either(10, 60)
