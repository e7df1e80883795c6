import type { Guid } from '../../src/domain/guid.ts'

/** A time in which something stayed as it was. */
export interface Span {
  readonly from: number
  to: number
  /** What ended it was a change that the CRM's own reports of changes do not tell. */
  endedSilently: boolean
}

export interface Epoch extends Span {
  readonly shown: boolean
}

/** The row as the CRM has it from `at` on. */
export interface State {
  readonly at: number
  readonly exists: boolean
  readonly shown: boolean
  readonly epoch: number
  readonly sold: number
  readonly venue: Guid
  /** Counts the reported changes of its table. */
  readonly sequence: number
  /** Whole seconds, as some CRMs keep it; a late commit's is minutes old. */
  readonly changedAtS: number
}

/**
 * All that ever happened to one row. Each state of its details is an epoch, numbered; each number of tickets sold occurs
 * once: so what an answer shows tells when it was true.
 */
export class Story {
  readonly id: Guid
  readonly epochs: Epoch[] = []
  readonly sales: Span[] = []
  readonly states: State[] = []

  constructor(id: Guid) {
    this.id = id
  }

  get state(): State | undefined {
    return this.states.at(-1)
  }

  /** The row as it was at a time. */
  stateAt(ms: number): State | undefined {
    for (let index = this.states.length - 1; index >= 0; index--) {
      const state = this.states[index]
      if (state !== undefined && state.at <= ms) return state
    }
    return undefined
  }

  /** The last time it was shown before it is shown now. */
  lastShown(): Epoch | undefined {
    return this.epochs.slice(0, -1).findLast((epoch) => epoch.shown)
  }

  /** Since when it has pointed at the venue that it points at in an epoch. */
  pointsSince(epoch: number): number | undefined {
    let since: State | undefined
    for (let index = this.states.length - 1; index >= 0; index--) {
      const state = this.states[index]
      if (state === undefined || state.epoch > epoch) continue
      if (since !== undefined && (!state.shown || state.venue !== since.venue)) break
      since = state
    }
    return since?.at
  }

  beginEpoch(at: number, shown: boolean, silently: boolean): number {
    end(this.epochs.at(-1), at, silently)
    return this.epochs.push({ from: at, to: Number.POSITIVE_INFINITY, endedSilently: false, shown }) - 1
  }

  sell(at: number, silently: boolean): number {
    end(this.sales.at(-1), at, silently)
    return this.sales.push({ from: at, to: Number.POSITIVE_INFINITY, endedSilently: false }) - 1
  }
}

function end(span: Span | undefined, at: number, silently: boolean): void {
  if (span === undefined) return
  span.to = at
  span.endedSilently = silently
}
