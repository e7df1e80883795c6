import { ShrinkGuard } from '../../src/sync/shrink-guard.ts'
import type { Mutant } from './mutants.ts'
import { override } from './override.ts'
import { FESTIVAL, SHORT } from './plans.ts'
import { settingOf } from './setting.ts'

/** Shrink guards that judge short lists, or events that are over, in a wrong way. */
export const GUARD_MUTANTS: readonly Mutant[] = [
  {
    name: 'believes the loss of a short list',
    setting: settingOf({ strategy: 'full-read', ...SHORT, events: 6, venues: 3 }),
    breakIt: () =>
      override(
        ShrinkGuard.prototype,
        'judge',
        (original) =>
          function judge(this: ShrinkGuard, list, read, circumstances) {
            const { shrinkGuardMs } = circumstances
            return original.call(this, list, read, {
              ...circumstances,
              shrinkGuardMs: list.served > 10 ? shrinkGuardMs : null,
            })
          },
      ),
  },
  {
    name: 'holds back events that are over',
    setting: settingOf({ strategy: 'full-read', ...FESTIVAL }),
    breakIt: () => judgeAt(Number.NEGATIVE_INFINITY),
  },
  {
    name: 'takes every event for one that is over',
    setting: settingOf({ strategy: 'full-read', maxAgeMs: 1000 }),
    // The day after the events of the model, so that they ended lately.
    breakIt: () => judgeAt(Date.parse('2026-07-13T00:00:00Z')),
  },
]

/** Judges the absence of events by a wrong clock. */
function judgeAt(wallMs: number): () => void {
  return override(
    ShrinkGuard.prototype,
    'judge',
    (original) =>
      function judge(this: ShrinkGuard, list, read, circumstances) {
        const now = list.kind.name === 'events' ? { ...circumstances.now, wallMs } : circumstances.now
        return original.call(this, list, read, { ...circumstances, now })
      },
  )
}
