import type { Withheld } from '../domain/withheld.ts'
import type { ExplainedKind, Step } from './explain.ts'
import { withheldWords } from './withheld-words.ts'

/** The steps of a row that is not served, up to the one that fails: conditions come before values. */
export function withheldSteps(kind: ExplainedKind, withheld: Withheld): readonly Step[] {
  const { fault, column, where } = withheld
  const { reason, remedy } = withheldWords(withheld)
  const failed = { ok: false, detail: `The ${kind} (${where}) ${reason}. ${remedy}` }
  const active: Step = { step: 'active', ok: true, detail: 'It is active.' }
  if (fault === 'inactive' || column === 'Active') return [{ step: 'active', ...failed }]
  if (fault === 'not-shown' || column === 'ShowOnWeb') return [active, { step: 'shown', ...failed }]
  const shown: Step = { step: 'shown', ok: true, detail: 'It is marked to be shown on the web.' }
  return [active, ...(kind === 'event' ? [shown] : []), { step: 'mapped', ...failed }]
}
