import { readConfiguration } from './configuration.ts'
import { askRunning, whyRefused } from './running-instance.ts'
import type { Surroundings } from './surroundings.ts'
import { ANSWER_IS_NO, FINE, WRONG_USAGE } from './surroundings.ts'

/** Tells the running instance that the shorter list is right. */
export async function accept(config: string | undefined, surroundings: Surroundings): Promise<number> {
  const read = await readConfiguration(config, surroundings)
  if (read === null) return WRONG_USAGE
  const reply = await askRunning(read.configuration, 'POST', '/accept')
  const lists = reply.kind === 'answered' && reply.status === 200 ? acceptedLists(reply.body) : null
  if (lists === null) {
    const why = reply.kind === 'not-running' ? reply.message : whyRefused(reply)
    surroundings.error(`nothing was accepted: ${why}`)
    return ANSWER_IS_NO
  }
  surroundings.out(
    lists.length === 0
      ? 'no list was held back, so there was nothing to accept'
      : `accepted: the shorter list of ${lists.join(' and ')} is read now`,
  )
  return FINE
}

/** The lists that an instance says it will believe; null where that is not what it says. */
function acceptedLists(body: unknown): readonly string[] | null {
  const accepted: unknown = typeof body === 'object' && body !== null && 'accepted' in body ? body.accepted : null
  return Array.isArray(accepted) && accepted.every((list) => typeof list === 'string') ? accepted : null
}
