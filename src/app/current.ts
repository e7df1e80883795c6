import type { Configuration } from '../config/configuration.ts'
import type { CrmLimits } from '../crm/kit/crm-limits.ts'
import type { FormatSettings } from '../formats/format.ts'

/** A configuration with what follows from it, as one value that never changes. */
interface Settings {
  readonly configuration: Configuration
  readonly format: FormatSettings
  readonly crmLimits: CrmLimits
}

/** Holds the settings in force. A reload replaces them as a whole: ask for them at each use, and keep no part. */
export class Current {
  readonly #longestPauseMs: number | undefined
  #settings: Settings

  /** @param longestPauseMs the longest pause to wait for if the CRM asks for one; any if absent */
  constructor(configuration: Configuration, longestPauseMs?: number) {
    this.#longestPauseMs = longestPauseMs
    this.#settings = settingsOf(configuration, longestPauseMs)
  }

  get settings(): Settings {
    return this.#settings
  }

  get configuration(): Configuration {
    return this.#settings.configuration
  }

  replace(configuration: Configuration): void {
    this.#settings = settingsOf(configuration, this.#longestPauseMs)
  }
}

const REQUEST_TIMEOUT_CEILING_MS = 10_000

function settingsOf(configuration: Configuration, longestPauseMs: number | undefined): Settings {
  const { freshness, limits, crm, listen, representation } = configuration
  const { maxAgeMs, fullReadEveryMs } = freshness
  const usualMs = maxAgeMs === 0 ? Infinity : Math.ceil(maxAgeMs / 3)
  return {
    configuration,
    format: { basePath: listen.basePath, ...representation },
    crmLimits: {
      maxAgeMs,
      fullReadEveryMs,
      memoryBytes: limits.memoryBytes,
      requestTimeoutMs: crm.requestTimeoutMs ?? Math.min(usualMs, REQUEST_TIMEOUT_CEILING_MS),
      longestPauseMs,
    },
  }
}
