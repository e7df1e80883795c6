import type { Fault } from '../../domain/withheld.ts'

/** Why a row is withheld, but for where it stands. */
export class Refusal {
  readonly fault: Fault
  readonly column: string | null
  readonly expected: string | null
  readonly found: string | null

  constructor(
    fault: Fault,
    column: string | null,
    misfit: { readonly expected: string; readonly found: string | null } | null,
  ) {
    this.fault = fault
    this.column = column
    this.expected = misfit?.expected ?? null
    this.found = misfit?.found ?? null
  }
}
