/** The row is `value` from `atMs` on; `null` is a row that is not shown. */
export interface RowChange {
  readonly id: string
  readonly atMs: number
  readonly value: string | number | null
}

interface RowState {
  readonly value: RowChange['value']
  /** When the change began, and when it was complete: in between, both states may be seen. */
  readonly atMs: number
  sureMs: number
}

/**
 * What each row was when, and what callers were shown of it. Each suite brings a writer, which says what it changes, and
 * a clock: all times are of the same one. A value that occurs once shows which state it is of.
 */
export class RowHistory {
  states = 0
  readonly #rows = new Map<string, RowState[]>()
  /** The latest state of a row that each caller has been shown: nothing before it may follow. */
  readonly #shown = new Map<string, number>()

  /** A change that is made at once. */
  write(change: RowChange): void {
    this.begin(change)
    this.end(change)
  }

  /** A change that a reader may see from now on, and need not see before its end. */
  begin({ id, atMs, value }: RowChange): void {
    this.states++
    this.#of(id).push({ value, atMs, sureMs: Number.POSITIVE_INFINITY })
  }

  end({ id, atMs }: Omit<RowChange, 'value'>): void {
    const last = this.#of(id).at(-1)
    if (last !== undefined) last.sureMs = atMs
  }

  /** The latest state of a row that a caller has been shown: what is asked for from now on is not earlier. */
  shown(id: string, by = ''): number {
    return this.#shown.get(`${by} ${id}`) ?? 0
  }

  /**
   * Why an answer is wrong, of data as of `atMs` at the earliest: the row was not so since, or was so only before what
   * the caller had been shown. `null` if it is right.
   *
   * @param earliest what the caller had been shown when it asked; others may have asked since
   */
  check({ id, atMs, value }: RowChange, by = '', earliest: number = this.shown(id, by)): string | null {
    const states = this.#of(id)
    const endOf = (index: number): number => states[index + 1]?.sureMs ?? Number.POSITIVE_INFINITY
    const index = states.findIndex((state, at) => at >= earliest && state.value === value && endOf(at) >= atMs)
    if (index !== -1) {
      this.#shown.set(`${by} ${id}`, Math.max(index, this.shown(id, by)))
      return null
    }
    const known = states
      .map((state, at) => `${at}: ${state.value} from ${state.atMs.toFixed(0)} (sure ${state.sureMs.toFixed(0)})`)
      .slice(-6)
    return `${id} was shown as ${value}, as of ${atMs.toFixed(0)} at the earliest, and after state ${earliest}; it was ${known.join(', ')}`
  }

  /** What the row is in the end. */
  last(id: string): RowChange['value'] {
    return this.#of(id).at(-1)?.value ?? null
  }

  #of(id: string): RowState[] {
    const known = this.#rows.get(id)
    if (known !== undefined) return known
    const began = Number.NEGATIVE_INFINITY
    const states: RowState[] = [{ value: null, atMs: began, sureMs: began }]
    this.#rows.set(id, states)
    return states
  }
}
