import type { Way } from '../../src/crm/connector/row-host.ts'

type Strategy = 'token-delta' | 'time-delta' | 'full-read'

/** One run of the model: everything that is decided before chance takes over. */
export interface Setting {
  readonly strategy: Strategy
  /**
   * The rows come through the connector kit, from a connector that has these methods; `null` for a source of the
   * model's own.
   */
  readonly ways: readonly Way[] | null
  readonly maxAgeMs: number
  readonly refreshEveryMs: number
  readonly fullReadEveryMs: number
  readonly staleIfErrorMs: number
  /** The tickets are also read by themselves, before each refresh. */
  readonly readsTickets: boolean
  /** The lag of each server of the CRM. The first is used until it fails. */
  readonly serverLagsMs: readonly number[]
  /** The approximate duration of a request. */
  readonly latencyMs: number
  readonly patienceMs: number
  /** The amount of trouble: 0 for none, 1 for the usual. */
  readonly trouble: number
  readonly clocks: 'steady' | 'set' | 'suspended'
  readonly waiting: number
  readonly waitForMs: number
  readonly clients: number
  /** The number of rows of each list. */
  readonly events: number
  readonly venues: number
  /** How often most events end, all at once, and leave the CRM's view without a report; 0 for never. */
  readonly seasonMs: number
  /** The pause between two requests of a client. */
  readonly thinkMs: number
  /** The mean time between two changes in the CRM. */
  readonly changeEveryMs: number
  /** All pages of a read show one state of all rows; if every read is a full one, an unchanged list is recognized. */
  readonly snapshot: boolean
  /** How often a read of changes by time includes an id scan; 0 for each time. */
  readonly idScanEveryMs: number
  /**
   * The probability that a cursor stops working for ever when it is used, with an error that does not mention the
   * cursor.
   */
  readonly cursorDeaths: number
  /** A read that has staged more writes what it has added so far. */
  readonly mostStagedBytes: number
  /** The probability that a file is read while it is being written over: its end is older, and a row is missing. */
  readonly halfWritten: number
  /** How often the process ends and the next one resumes from its snapshot; 0 for never. */
  readonly restartEveryMs: number
  /** The CRM omits rows that are not shown. Otherwise each row says whether it is shown. */
  readonly serverFilters: boolean
  readonly shrinkGuardMs: number | null
  /** Rows become unreadable: single ones by mistakes, and sometimes nearly all of a list. */
  readonly garbles: boolean
}

/** Returns a setting with the defaults of a service whose CRM answers in 40 ms. */
export function settingOf(given: Partial<Setting> & Pick<Setting, 'strategy' | 'maxAgeMs'>): Setting {
  const refreshEveryMs = given.refreshEveryMs ?? (given.maxAgeMs === 0 ? 5000 : Math.min(5000, given.maxAgeMs / 2))
  return {
    ways: null,
    refreshEveryMs,
    fullReadEveryMs: refreshEveryMs * 9,
    staleIfErrorMs: 0,
    readsTickets: false,
    serverLagsMs: [0],
    latencyMs: 40,
    patienceMs: given.maxAgeMs === 0 ? 10_000 : Math.max(300, Math.min(10_000, given.maxAgeMs / 3)),
    trouble: 1,
    clocks: 'steady',
    waiting: 1000,
    waitForMs: 15_000,
    clients: 6,
    events: 60,
    venues: 30,
    seasonMs: 0,
    thinkMs: refreshEveryMs / 3,
    changeEveryMs: refreshEveryMs / 3,
    snapshot: false,
    idScanEveryMs: 0,
    cursorDeaths: 0.002 * (given.trouble ?? 1),
    mostStagedBytes: 16_000_000,
    halfWritten: 0,
    restartEveryMs: 0,
    serverFilters: true,
    shrinkGuardMs: 0,
    garbles: false,
    ...given,
  }
}
