import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { changedKeys } from '../config/changed-keys.ts'
import type { Configuration } from '../config/configuration.ts'
import type { Observe } from '../observe/observation.ts'
import { bugPlace } from '../observe/printable.ts'
import { loadFound } from './configuration.ts'
import type { Running } from './operations.ts'
import type { Surroundings } from './surroundings.ts'

export interface Reloading {
  readonly running: Running
  /** The file that `--config` named. */
  readonly option: string | undefined
  readonly surroundings: Surroundings
  readonly observe: Observe
  /** Has the listener keep the limits that are its own. */
  readonly keepLimits: (configuration: Configuration) => void
}

/** npm ends by a SIGHUP, and the same one may reach its child before. */
const NPM_ENDS_MS = 1000
const STANDARD_OUTPUT = 1

/**
 * What a SIGHUP does: reads the configuration again, one time after another; of several that come meanwhile one is enough.
 * It tells whether the terminal, or the npm, that the service was started from is gone: nobody else would end it.
 */
export function onHangUp(reloading: Reloading): () => Promise<boolean> {
  const { running, surroundings, observe } = reloading
  const { isTerminal, env } = surroundings
  const parent = process.ppid
  const isNpms = env['npm_lifecycle_event'] !== undefined
  let isReading = false
  let isAskedAgain = false
  return async () => {
    if (isTerminal && !isatty(STANDARD_OUTPUT)) return true
    isAskedAgain = true
    while (isAskedAgain && !isReading && !running.stopping) {
      isAskedAgain = false
      isReading = true
      await reload(reloading).catch((cause: unknown) => observe({ kind: 'internal-error', message: bugPlace(cause) }))
      isReading = false
    }
    if (!isNpms) return false
    await pause(NPM_ENDS_MS)
    return process.ppid !== parent
  }
}

async function reload({ running, option, surroundings, observe, keepLimits }: Reloading): Promise<void> {
  const found = await loadFound(option, surroundings)
  if (running.stopping) return
  if (!found.ok) return observe({ kind: 'reload-refused', problems: found.problems })
  const { configuration, warnings } = found
  const { changed, fixed } = changedKeys(running.configuration, configuration)
  if (fixed.length > 0) {
    const verb = fixed.length === 1 ? 'has' : 'have'
    return observe({
      kind: 'reload-refused',
      problems: [`${fixed.join(', ')} ${verb} changed, which takes effect only when the service is started again`],
    })
  }
  for (const message of warnings) observe({ kind: 'crm-noticed', message })
  if (changed.length > 0) {
    running.configuration = configuration
    running.telemetry.logsRequests = configuration.log.requests
    running.marquee.adopt(configuration)
    keepLimits(configuration)
  }
  observe({ kind: 'reloaded', changed })
}
