import { Buckets } from './buckets.ts'
import type { Observation, Outcome } from './observation.ts'

const READ_BOUNDS_S = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const DELAY_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 300, 900, 3600]

export interface ListReads {
  readonly byOutcome: Map<Outcome, number>
  readonly durations: Buckets
}

/** Counts what the observations say of the reads of the CRM. */
export class ReadMeter {
  readonly lists: ReadonlyMap<string, ListReads>
  readonly crmRequests: Map<Outcome, number> = new Map()
  readonly publishDelay: Buckets = new Buckets(DELAY_BOUNDS_S)

  constructor(lists: readonly string[]) {
    this.lists = new Map(lists.map((list) => [list, { byOutcome: new Map(), durations: new Buckets(READ_BOUNDS_S) }]))
  }

  note(observation: Observation): void {
    if (observation.kind === 'read-ended') {
      const { list, outcome, durationMs } = observation.read
      const reads = this.lists.get(list)
      if (reads === undefined) return
      increase(reads.byOutcome, outcome)
      reads.durations.add(durationMs / 1000)
    } else if (observation.kind === 'crm-request') increase(this.crmRequests, observation.outcome)
    else if (observation.kind === 'changes-published') {
      for (const delayMs of observation.delaysMs) this.publishDelay.add(delayMs / 1000)
    }
  }
}

function increase(counts: Map<Outcome, number>, outcome: Outcome): void {
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
}
