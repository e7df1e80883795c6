/** Processor time, and the longest turn of the event loop. */
export interface Cost {
  readonly workMs: number
  readonly turnMs: number
}

/** A turn counts as the smaller of elapsed time and processor time, because other processes must not count. */
class TurnWatch {
  longestMs = 0
  #at = now()
  #watching = true

  constructor() {
    this.#watch()
  }

  #watch(): void {
    this.#look()
    if (this.#watching) setImmediate(() => this.#watch())
  }

  #look(): void {
    const at = now()
    this.longestMs = Math.max(this.longestMs, Math.min(at.wallMs - this.#at.wallMs, at.cpuMs - this.#at.cpuMs))
    this.#at = at
  }

  end(): void {
    this.#watching = false
    this.#look()
  }
}

function now(): { readonly wallMs: number; readonly cpuMs: number } {
  const { user, system } = process.cpuUsage()
  return { wallMs: performance.now(), cpuMs: (user + system) / 1000 }
}

export async function costOf(work: () => Promise<void> | void): Promise<Cost> {
  const begun = now()
  const turns = new TurnWatch()
  await work()
  turns.end()
  const ended = now()
  return { workMs: Math.min(ended.wallMs - begun.wallMs, ended.cpuMs - begun.cpuMs), turnMs: turns.longestMs }
}
