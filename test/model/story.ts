import type { Guid } from '../../src/domain/guid.ts'

/** A period in which something stayed the same. */
export interface Span {
  readonly from: number
  to: number
  /** The change that ended it is not in the CRM's reports of changes. */
  endedSilently: boolean
  /** The change that ended it has a timely updatedAt and the row stayed shown, so the next delta reports it. */
  endedPromptly: boolean
}

export interface Epoch extends Span {
  readonly shown: boolean
}

/** The row's state in the CRM from `at` on. */
export interface State {
  readonly at: number
  readonly exists: boolean
  readonly shown: boolean
  readonly epoch: number
  readonly sold: number
  readonly venue: Guid
  /** Counts the reported changes of the table. */
  readonly sequence: number
  /** Whole seconds, as in some CRMs. A late commit's value is minutes old. */
  readonly updatedAtS: number
}

/**
 * The complete history of one row. Each state of its details has a number, the epoch, and each number of tickets sold
 * occurs once. An answer therefore shows when it was true.
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

  /** Returns the row's state at a time. */
  stateAt(ms: number): State | undefined {
    for (let index = this.states.length - 1; index >= 0; index--) {
      const state = this.states[index]
      if (state !== undefined && state.at <= ms) return state
    }
    return undefined
  }

  /** Returns the last period in which the row was shown, before the present one. */
  lastShown(): Epoch | undefined {
    return this.epochs.slice(0, -1).findLast((epoch) => epoch.shown)
  }

  /** Returns true if the next delta reports all changes since that time. */
  isPromptSince(ms: number): boolean {
    return [...this.epochs, ...this.sales].every(
      ({ to, endedPromptly }) => to < ms || to === Number.POSITIVE_INFINITY || endedPromptly,
    )
  }

  /** Returns the earliest period without the row that a 404 may refer to; the latest one if there is none. */
  absentEpoch(sinceMs: number, last: number, untilMs: (epoch: number) => number): number {
    const isIt = ({ shown }: Epoch, index: number): boolean => !shown && index >= last && untilMs(index) >= sinceMs
    const found = this.epochs.findIndex(isIt)
    return found === -1
      ? Math.max(
          0,
          this.epochs.findLastIndex(({ shown }) => !shown),
        )
      : found
  }

  before(epoch: Epoch): Epoch | undefined {
    return this.epochs[this.epochs.indexOf(epoch) - 1]
  }

  /** Marks the changes that ended this epoch and all later ones as unreported. */
  hush(epoch: number): void {
    for (const span of this.epochs.slice(epoch, -1)) span.endedSilently = true
  }

  /** Returns the periods in which the row referred to its venue of the given epoch, with that epoch's period last. */
  pointing(epoch: number): readonly Span[] {
    const venue = this.states.find((state) => state.epoch === epoch)?.venue
    const spans: Span[] = []
    let open: Span | undefined
    for (const { at, shown, venue: pointedAt, epoch: of } of this.states) {
      const points = shown && pointedAt === venue
      if (points && open === undefined) {
        if (of > epoch) break
        open = begun(at)
        spans.push(open)
      } else if (!points && open !== undefined) {
        end(open, at, this.epochs[of - 1]?.endedSilently === true, false)
        open = undefined
      }
    }
    return spans
  }

  beginEpoch(at: number, shown: boolean, silently: boolean, promptly: boolean): number {
    end(this.epochs.at(-1), at, silently, promptly)
    return this.epochs.push({ ...begun(at), shown }) - 1
  }

  sell(at: number, silently: boolean, promptly: boolean): number {
    end(this.sales.at(-1), at, silently, promptly)
    return this.sales.push(begun(at)) - 1
  }
}

/** Until when a state may be shown, apart from the age: what the CRM does not report, an audit finds some time. */
export function reportedMs(spans: readonly Span[], index: number): number {
  const span = spans[index]
  if (span === undefined || !span.endedSilently) return span?.to ?? 0
  return spans.slice(index + 1).find((later) => !later.endedSilently)?.to ?? Number.POSITIVE_INFINITY
}

function begun(from: number): Span {
  return { from, to: Number.POSITIVE_INFINITY, endedSilently: false, endedPromptly: false }
}

function end(span: Span | undefined, at: number, silently: boolean, promptly: boolean): void {
  if (span === undefined) return
  span.to = at
  span.endedSilently = silently
  span.endedPromptly = promptly
}
