/** A state of a row: true for certain from `sureFrom` to before the next began, and perhaps from `from` on. */
interface State {
  readonly name: string | null
  /** When its commit was asked for, and when it was confirmed. */
  readonly from: number
  sureFrom: number
}

/** What each row was when, and what of it was seen. */
export class History {
  states = 0
  readonly #rows = new Map<string, State[]>()
  /** The latest state of a row that an answer of each process has shown: none before it may follow. */
  readonly #shown = new Map<string, number>()

  begin(id: string, name: string | null): void {
    this.states++
    this.#of(id).push({ name, from: performance.now(), sureFrom: Infinity })
  }

  end(id: string): void {
    const last = this.#of(id).at(-1)
    if (last !== undefined) last.sureFrom = performance.now()
  }

  /** The latest state of a row that one has shown: what it is asked for from now on is not earlier. */
  shown(id: string, by = ''): number {
    return this.#shown.get(`${by} ${id}`) ?? 0
  }

  /** Why an answer is wrong: it was not so at any time since, or is older than one before; null where it is right. */
  check(id: string, name: string | null, sinceMs: number, by = '', earliest = this.shown(id, by)): string | null {
    const now = performance.now()
    const states = this.#of(id)
    for (let index = states.length - 1; index >= earliest; index--) {
      const state = states[index]
      if (state?.name !== name) continue
      const ended = states[index + 1]?.sureFrom ?? Infinity
      if (ended < sinceMs) break
      // Absence looks alike each time, so only a name tells which state was shown.
      if (name !== null) this.#shown.set(`${by} ${id}`, Math.max(index, this.shown(id, by)))
      return null
    }
    const told = states
      .slice(-6)
      .map((state) => `${state.name} ${(now - state.from).toFixed(0)}…${(now - state.sureFrom).toFixed(0)} ms ago`)
    const asOf = `as of ${(now - sinceMs).toFixed(0)} ms ago at the earliest`
    return `${id} was shown as ${name} ${asOf}, shown before: ${earliest}; of ${states.length}: ${told.join(', ')}`
  }

  /** What the row is in the end. */
  last(id: string): string | null {
    return this.#of(id).at(-1)?.name ?? null
  }

  #of(id: string): State[] {
    const known = this.#rows.get(id)
    if (known !== undefined) return known
    const states: State[] = [{ name: null, from: -Infinity, sureFrom: -Infinity }]
    this.#rows.set(id, states)
    return states
  }
}
