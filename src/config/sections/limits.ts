import { z } from 'zod'
import { duration } from '../values/duration.ts'
import { size } from '../values/size.ts'
import { wholeNumber } from '../values/whole-number.ts'

export interface Limits {
  readonly waiting: number
  readonly waitForMs: number
  readonly idleMs: number
  readonly drainMs: number
  readonly memoryBytes: number
}

export const limitsSection: z.ZodType<Limits> = z
  .strictObject({
    waiting: wholeNumber(0, 1_000_000)
      .prefault(1000)
      .describe('How many requests may wait for a refresh at once; the others get 502.'),
    waitFor: duration().prefault('10s').describe('How long a request may wait for a refresh; then 502.'),
    idle: duration({ leastMs: 1000 })
      .prefault('75s')
      .describe('Keep-alive of an idle connection; longer than that of the load balancer in front.'),
    drain: duration()
      .prefault('10s')
      .describe('What a stop grants requests in flight; a second signal ends at once, with exit status 1.'),
    memory: size().prefault('2GB').describe('Of prepared records; a larger list is refused and the old one kept.'),
  })
  .transform((given): Limits => ({
    waiting: given.waiting,
    waitForMs: given.waitFor,
    idleMs: given.idle,
    drainMs: given.drain,
    memoryBytes: given.memory,
  }))
  .prefault({})
  .describe('What may not grow without end.')
