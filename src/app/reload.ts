import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { changedKeys } from './changed-keys.ts'
import type { Configuration } from '../config/configuration.ts'
import type { Observe } from '../observe/observation.ts'
import { bugPlace, printable } from '../domain/printable.ts'
import { type ConfigurationOptions, loadFound } from '../config/read-configuration.ts'
import type { Running } from './operations.ts'
import type { CommandContext } from './command-context.ts'

/** How long npm may take to end after a SIGHUP, which may reach its child first. */
const NPM_ENDS_MS = 1000
const STANDARD_OUTPUT = 1

/**
 * Returns the function to call on SIGHUP. It reloads the configuration; signals that arrive meanwhile cause one further
 * reload. It resolves to true if the terminal or the npm that started the service is gone: nothing else would end it.
 * `keepLimits` applies the listener's own limits.
 */
export function onHangUp(
  running: Running,
  options: ConfigurationOptions,
  context: CommandContext,
  observe: Observe,
  keepLimits: (configuration: Configuration) => void,
): () => Promise<boolean> {
  const { isTerminal, env } = context
  const parent = process.ppid
  const isNpms = env['npm_lifecycle_event'] !== undefined
  let isReading = false
  let isAskedAgain = false

  function refuse(problems: readonly string[]): void {
    running.refused = { at: new Date().toISOString(), problems: problems.map((problem) => printable(problem, 1000)) }
    observe({ kind: 'reload-refused', problems })
  }

  async function reload(): Promise<void> {
    const found = await loadFound(options, context)
    if (running.stopping) return
    if (!found.ok) return refuse(found.problems)
    const { configuration, warnings } = found
    const { changed, fixed, later } = changedKeys(running.configuration, configuration)
    if (fixed.length > 0) {
      const verb = fixed.length === 1 ? 'has' : 'have'
      const problem = `${fixed.join(', ')} ${verb} changed, which takes effect only when the service is started again`
      // A file that is gone, or a new one, is the cause that the operator does not see in the keys.
      return refuse([found.from === running.from ? problem : `${problem}; the configuration is now ${found.from}`])
    }
    for (const message of warnings) observe({ kind: 'crm-noticed', message })
    if (changed.length > 0 || later.length > 0) {
      await running.marquee.adopt(configuration)
      running.configuration = configuration
      running.telemetry.logsRequests = configuration.log.requests
      keepLimits(configuration)
    }
    running.refused = null
    observe({ kind: 'reloaded', changed, later })
  }

  return async () => {
    if (isTerminal && !isatty(STANDARD_OUTPUT)) return true
    isAskedAgain = true
    while (isAskedAgain && !isReading && !running.stopping) {
      isAskedAgain = false
      isReading = true
      await reload().catch((cause: unknown) => observe({ kind: 'internal-error', message: bugPlace(cause) }))
      isReading = false
    }
    if (!isNpms) return false
    await pause(NPM_ENDS_MS)
    return process.ppid !== parent
  }
}
