import { z } from 'zod'
import { duration } from '../values/duration.ts'
import { flag } from '../values/flag.ts'

export interface Freshness {
  /** No answer is older than this; 0 makes every request wait for a refresh begun after it arrived. */
  readonly boundMs: number
  readonly refreshEveryMs: number
  readonly fullReadEveryMs: number
  /** How far past the bound answers go on while the CRM fails; 0 is not at all. */
  readonly staleIfErrorMs: number
  readonly brake: boolean
}

const MOST_OFTEN_MS = 10

export const freshnessSection: z.ZodType<Freshness> = z
  .strictObject({
    bound: duration()
      .prefault('30s')
      .describe('No answer is older than this; 0 makes every request wait for a refresh of its own.'),
    refreshEvery: duration({ leastMs: MOST_OFTEN_MS })
      .optional()
      .meta({ shown: '`5s`, or half the bound where that is less' })
      .describe('How often the replica is brought up to date in the background.'),
    fullReadEvery: duration({ leastMs: MOST_OFTEN_MS })
      .prefault('15m')
      .describe('How often both lists are read in full, to find what the CRM does not report.'),
    staleIfError: duration()
      .prefault('0s')
      .describe(
        'While the CRM fails, how far past the bound to go on answering; `12h` bridges a CRM that sleeps at night. 0 answers 502.',
      ),
    brake: flag()
      .prefault('on')
      .describe('A list that lost more than half of its records is not believed until `marquee accept`.'),
  })
  .transform((given): Freshness => ({
    boundMs: given.bound,
    refreshEveryMs: given.refreshEvery ?? usualRefreshMs(given.bound),
    fullReadEveryMs: given.fullReadEvery,
    staleIfErrorMs: given.staleIfError,
    brake: given.brake,
  }))
  .prefault({})
  .describe('How old answers may be.')

/** 5 s or half the bound, whichever is less; a bound of 0 is met by the requests themselves, so it asks for no haste. */
function usualRefreshMs(boundMs: number): number {
  return boundMs === 0 ? 5000 : Math.max(MOST_OFTEN_MS, Math.min(5000, Math.floor(boundMs / 2)))
}
