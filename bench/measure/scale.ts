/**
 * Whether to run everything in a minute, only to see that it works: the figures are meaningless, and nothing is
 * written.
 */
export const QUICK: boolean = process.env['BENCH_QUICK'] === '1'

/** Returns the first value, or the second with `BENCH_QUICK=1`. */
export function scaled<Setting>(full: Setting, quick: Setting): Setting {
  return QUICK ? quick : full
}

/** A positive integer from the environment, for runs that differ from the published one. */
export function fromEnvironment(name: string, otherwise: number): number {
  const text = process.env[name]
  if (text === undefined || text === '') return otherwise
  if (!/^[1-9]\d*$/.test(text))
    throw new Error(`${name} is ${JSON.stringify(text)}; it must be a whole number from 1 on`)
  return Number(text)
}
