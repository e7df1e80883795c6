/** Whether only to show that everything runs, in a minute: its figures say nothing, and nothing is written. */
export const QUICK: boolean = process.env['BENCH_QUICK'] === '1'

/** How much a part measures: the first, or the second with `BENCH_QUICK=1`. */
export function scaled<Setting>(full: Setting, quick: Setting): Setting {
  return QUICK ? quick : full
}

/** A whole number from the environment, where a run should differ from the one that is published. */
export function fromEnvironment(name: string, otherwise: number): number {
  const text = process.env[name]
  if (text === undefined || text === '') return otherwise
  if (!/^[1-9]\d*$/.test(text))
    throw new Error(`${name} is ${JSON.stringify(text)}; it must be a whole number from 1 on`)
  return Number(text)
}
