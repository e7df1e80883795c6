import type { Guid } from '../../src/domain/guid.ts'

/** A time in which something stayed as it was. */
export interface Span {
  readonly from: number
  to: number
  /** What ended it was a change that the CRM's own reports of changes do not tell. */
  endedSilently: boolean
  /** It was a change whose stamp is that of its commit, of a row that went on being shown: the next delta tells it. */
  endedPromptly: boolean
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
  readonly updatedAtS: number
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

  /** The last time it was shown, before the present. */
  lastShown(): Epoch | undefined {
    return this.epochs.slice(0, -1).findLast((epoch) => epoch.shown)
  }

  /** Whether all that changed from that time on is told by the next delta. */
  isPromptSince(ms: number): boolean {
    return [...this.epochs, ...this.sales].every(
      ({ to, endedPromptly }) => to < ms || to === Number.POSITIVE_INFINITY || endedPromptly,
    )
  }

  before(epoch: Epoch): Epoch | undefined {
    return this.epochs[this.epochs.indexOf(epoch) - 1]
  }

  /** All that ended since that epoch did, and it itself, went untold. */
  hush(epoch: number): void {
    for (const span of this.epochs.slice(epoch, -1)) span.endedSilently = true
  }

  /** When it pointed at the venue that it points at in an epoch: the spans, the one of that epoch last. */
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

function begun(from: number): Span {
  return { from, to: Number.POSITIVE_INFINITY, endedSilently: false, endedPromptly: false }
}

function end(span: Span | undefined, at: number, silently: boolean, promptly: boolean): void {
  if (span === undefined) return
  span.to = at
  span.endedSilently = silently
  span.endedPromptly = promptly
}
