import { printable } from '../domain/printable.ts'
import { type ConfigurationOptions, readConfiguration } from '../config/read-configuration.ts'
import { type Reply, askRunning, whyRefused } from './running-instance.ts'
import { type CommandContext, ANSWER_IS_NO, FINE, WRONG_USAGE } from '../app/command-context.ts'

/** Asks the running instance whether it is ready. Probes use this in images without a shell. */
export async function ready(options: ConfigurationOptions, context: CommandContext): Promise<number> {
  const read = await readConfiguration(options, context)
  if (read === null) return WRONG_USAGE
  const reply = await askRunning(read.configuration, 'GET', '/ready')
  if (reply.kind === 'answered' && reply.status === 200) {
    context.out('ready')
    return FINE
  }
  const why = whyNot(reply, (at) => `it runs and answers 502 for now, or is about to stop: ${at}/status says which`)
  context.error(`not ready: ${why}`)
  return ANSWER_IS_NO
}

function whyNot(reply: Reply, on503: (address: string) => string): string {
  if (reply.kind !== 'answered') return reply.message
  return reply.status === 503 ? on503(reply.address) : whyRefused(reply)
}

/** How long to wait for the answer: the instance may have to ask the leader. */
const ACCEPT_MS = 15_000

/** Tells the running instance to accept shorter lists. */
export async function accept(options: ConfigurationOptions, context: CommandContext): Promise<number> {
  const read = await readConfiguration(options, context)
  if (read === null) return WRONG_USAGE
  const reply = await askRunning(read.configuration, 'POST', '/accept', ACCEPT_MS)
  const lists = reply.kind === 'answered' && reply.status === 200 ? acceptedLists(reply.body) : null
  if (lists === null) {
    const later = 'a leader that comes back may still accept the list'
    const why = whyNot(
      reply,
      (at) => `no leader answered within 10 s; ${later}; ${at}/status says which instance reads the CRM, if any does`,
    )
    context.error(`nothing was accepted: ${why}`)
    return ANSWER_IS_NO
  }
  context.out(
    lists.length === 0
      ? 'no list was held back, so there was nothing to accept'
      : printable(`accepted: the shorter list of ${lists.join(' and ')} is read now`),
  )
  return FINE
}

/** Parses the names of the accepted lists; `null` if the answer has another form. */
function acceptedLists(body: unknown): readonly string[] | null {
  const accepted: unknown = typeof body === 'object' && body !== null && 'accepted' in body ? body.accepted : null
  return Array.isArray(accepted) && accepted.every((list) => typeof list === 'string') ? accepted : null
}
