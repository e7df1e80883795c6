/** Processor time, and the longest turn of the event loop. */
export interface Cost {
  readonly workMs: number
  readonly turnMs: number
}

/** A turn counts by the processor time of its thread: what other processes and threads take must not count. */
class TurnWatch {
  longestMs = 0
  #atMs = threadMs()
  #watching = true

  constructor() {
    this.#watch()
  }

  #watch(): void {
    this.#look()
    if (this.#watching) setImmediate(() => this.#watch())
  }

  #look(): void {
    const atMs = threadMs()
    this.longestMs = Math.max(this.longestMs, atMs - this.#atMs)
    this.#atMs = atMs
  }

  end(): void {
    this.#watching = false
    this.#look()
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
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
