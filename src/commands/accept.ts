import { z } from 'zod'
import { readConfiguration } from './configuration.ts'
import { askRunning, whyRefused } from './running-instance.ts'
import type { Surroundings } from './surroundings.ts'
import { ANSWER_IS_NO, FINE, WRONG_USAGE } from './surroundings.ts'

const ACCEPTED = z.object({ accepted: z.array(z.string()) })

/** Tells the running instance that the shorter list is right. */
export async function accept(config: string | undefined, surroundings: Surroundings): Promise<number> {
  const read = await readConfiguration(config, surroundings)
  if (read === null) return WRONG_USAGE
  const reply = await askRunning(read.configuration, 'POST', '/accept')
  const accepted = ACCEPTED.safeParse(reply.kind === 'answered' && reply.status === 200 ? reply.body : null)
  if (!accepted.success) {
    const why = reply.kind === 'not-running' ? reply.message : whyRefused(reply)
    surroundings.error(`nothing was accepted: ${why}`)
    return ANSWER_IS_NO
  }
  const lists = accepted.data.accepted
  surroundings.out(
    lists.length === 0
      ? 'no list was held back, so there was nothing to accept'
      : `accepted: the shorter list of ${lists.join(' and ')} is read now`,
  )
  return FINE
}
