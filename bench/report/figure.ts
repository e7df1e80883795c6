import type { Runtime } from '../../test/support/child.ts'

export const RUNTIMES: readonly Runtime[] = ['bun', 'node']

export const RUNTIME_NAMES: Readonly<Record<Runtime, string>> = { bun: 'Bun', node: 'Node' }

/** What was measured of one runtime, and whether that meets the goal. */
export interface Measured {
  readonly text: string
  readonly isMet: boolean
}

/** A line of the summary; null where it could not be measured here. */
export interface Figure {
  readonly figure: string
  readonly goal: string
  readonly measured: Readonly<Record<Runtime, Measured | null>>
}

/** Both runtimes against one ceiling each, in the same unit; null and NaN where nothing was measured. */
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

/** Three digits that count, and no more behind the point than two: 0.62, 17.3, 1240. */
export function show(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)
}
