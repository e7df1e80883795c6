type Strategy = 'token-delta' | 'time-delta' | 'full-read'

/** One run of the model: everything that is decided before chance takes over. */
export interface Setting {
  readonly strategy: Strategy
  readonly maxAgeMs: number
  readonly refreshEveryMs: number
  readonly fullReadEveryMs: number
  readonly staleIfErrorMs: number
  /** Tickets are read on their own this often; null where the other reads carry them. */
  readonly availabilityEveryMs: number | null
  /** How far each server of the CRM lags behind; the first is asked until it fails. */
  readonly serverLagsMs: readonly number[]
  /** A request takes about this long. */
  readonly latencyMs: number
  readonly patienceMs: number
  /** How much goes wrong: 0 nothing, 1 the usual. */
  readonly trouble: number
  /** How likely it is that a page is asked for twice, because the first answer is slow. */
  readonly asksTwice: number
  readonly clocks: 'steady' | 'set' | 'suspended'
  readonly waiting: number
  readonly waitForMs: number
  readonly clients: number
  /** The pause between two requests of a client. */
  readonly thinkMs: number
  /** The mean time between two changes in the CRM. */
  readonly changeEveryMs: number
  /** All pages of a read show one state of all rows; where a read is always a full one, an unchanged list is recognised. */
  readonly snapshot: boolean
  /** How often a read of changes by time sweeps all ids; 0: each time. */
  readonly idScanEveryMs: number
  /** How likely it is that a cursor does not work when it is used, nor ever again, without a word that it is the cursor. */
  readonly cursorDeaths: number
  /** How often the process ends and the next one goes on from its snapshot; 0: never. */
  readonly restartEveryMs: number
  /** The CRM leaves out what is not shown, else it says so row by row. */
  readonly serverFilters: boolean
  readonly shrinkGuardMs: number | null
  /** Rows become unreadable: one by a mistake, and now and then nearly all of a list. */
  readonly garbles: boolean
}

/** A setting with the defaults of a service whose CRM answers in 40 ms. */
export function settingOf(given: Partial<Setting> & Pick<Setting, 'strategy' | 'maxAgeMs'>): Setting {
  const refreshEveryMs = given.refreshEveryMs ?? (given.maxAgeMs === 0 ? 5000 : Math.min(5000, given.maxAgeMs / 2))
  return {
    refreshEveryMs,
    fullReadEveryMs: refreshEveryMs * 9,
    staleIfErrorMs: 0,
    availabilityEveryMs: null,
    serverLagsMs: [0],
    latencyMs: 40,
    patienceMs: given.maxAgeMs === 0 ? 10_000 : Math.max(300, Math.min(10_000, given.maxAgeMs / 3)),
    trouble: 1,
    asksTwice: 0.05 * (given.trouble ?? 1),
    clocks: 'steady',
    waiting: 1000,
    waitForMs: 15_000,
    clients: 6,
    thinkMs: refreshEveryMs / 3,
    changeEveryMs: refreshEveryMs / 3,
    snapshot: false,
    idScanEveryMs: 0,
    cursorDeaths: 0.002 * (given.trouble ?? 1),
    restartEveryMs: 0,
    serverFilters: true,
    shrinkGuardMs: 0,
    garbles: false,
    ...given,
  }
}
