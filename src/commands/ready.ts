import { readConfiguration } from './configuration.ts'
import { askRunning, whyRefused } from './running-instance.ts'
import type { Surroundings } from './surroundings.ts'
import { ANSWER_IS_NO, FINE, WRONG_USAGE } from './surroundings.ts'

/** Asks the running instance whether it is ready: for probes in images without a shell. */
export async function ready(config: string | undefined, surroundings: Surroundings): Promise<number> {
  const read = await readConfiguration(config, surroundings)
  if (read === null) return WRONG_USAGE
  const reply = await askRunning(read.configuration, 'GET', '/ready')
  if (reply.kind === 'answered' && reply.status === 200) {
    surroundings.out('ready')
    return FINE
  }
  surroundings.error(`not ready: ${whyNot(reply)}`)
  return ANSWER_IS_NO
}

function whyNot(reply: Awaited<ReturnType<typeof askRunning>>): string {
  if (reply.kind === 'not-running') return reply.message
  if (reply.status !== 503) return whyRefused(reply)
  return `it runs and answers 502 for now, or is about to stop: ${reply.address}/status says which`
}
