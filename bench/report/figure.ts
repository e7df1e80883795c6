import type { Runtime } from '../../test/support/child.ts'

export const RUNTIMES: readonly Runtime[] = ['bun', 'node']

export const RUNTIME_NAMES: Readonly<Record<Runtime, string>> = { bun: 'Bun', node: 'Node' }

/** A measurement of one runtime, and whether it meets the goal. */
export interface Measured {
  readonly text: string
  readonly isMet: boolean
}

/** A line of the summary; a runtime that could not be measured is null. */
export interface Figure {
  readonly figure: string
  readonly goal: string
  readonly measured: Readonly<Record<Runtime, Measured | null>>
}

/** A line that compares both runtimes with their ceilings; null and NaN mean not measured. */
export function figureOf(
  figure: string,
  goal: string,
  unit: string,
  of: (runtime: Runtime) => { readonly value: number | null; readonly ceiling: number },
): Figure {
  const measure = (runtime: Runtime): Measured | null => {
    const { value, ceiling } = of(runtime)
    if (value === null || Number.isNaN(value)) return null
    return { text: `${show(value)}${unit}`, isMet: value <= ceiling }
  }
  return { figure, goal, measured: { bun: measure('bun'), node: measure('node') } }
}

/** Formats a number with three significant digits and at most two decimals: 0.62, 17.3, 1240. */
export function show(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)
}
