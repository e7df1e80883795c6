import type { Fault } from '../../domain/withheld.ts'
import { Misfit } from './misfit.ts'
import type { Origin } from './readers.ts'
import { Refusal } from './refusal.ts'
import { toFlag } from './to-flag.ts'

/** A condition that a row's own flag decides; `absent` is what a blank one means, `fault` what a false one is. */
export function flagCondition<Row>(
  { column, cell }: Origin<Row>,
  absent: boolean,
  fault: Fault,
): (row: Row) => Refusal | null {
  return (row) => {
    const flag = toFlag(cell(row))
    if (flag instanceof Misfit) return new Refusal('unreadable', column, flag)
    return (flag ?? absent) ? null : new Refusal(fault, column, null)
  }
}
