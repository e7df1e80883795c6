/**
 * Ignored signals. By default, both end Bun, and SIGUSR1 opens a debugger on Node. Operators send them by mistake for
 * SIGHUP.
 */
const MEANINGLESS = ['SIGUSR1', 'SIGUSR2'] as const

type EarlySignal = 'SIGHUP' | (typeof MEANINGLESS)[number]

/**
 * Keeps signals that arrive during the start, because by default they end the process. Only `serve` keeps SIGHUP: a
 * closed terminal ends all other commands.
 */
export class EarlySignals {
  readonly #kept: EarlySignal[] = []
  #listener: ((signal: EarlySignal) => void) | null = null

  constructor(on: (signal: EarlySignal, listener: () => void) => unknown, isService: boolean) {
    for (const signal of isService ? (['SIGHUP', ...MEANINGLESS] as const) : MEANINGLESS) {
      on(signal, () => this.#take(signal))
    }
  }

  /** Passes the kept signals to the listener, each kind once, and then every new one. */
  handTo(listener: (signal: EarlySignal) => void): void {
    this.#listener = listener
    for (const signal of new Set(this.#kept.splice(0))) listener(signal)
  }

  #take(signal: EarlySignal): void {
    if (this.#listener !== null) this.#listener(signal)
    else if (!this.#kept.includes(signal)) this.#kept.push(signal)
  }
}
