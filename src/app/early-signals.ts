/** Signals that stop the service. */
export const STOPS = ['SIGTERM', 'SIGINT'] as const
/**
 * Ignored signals. By default, both end Bun, and SIGUSR1 opens a debugger on Node. Operators send them by mistake for
 * SIGHUP.
 */
const MEANINGLESS = ['SIGUSR1', 'SIGUSR2'] as const
export const OTHERS = ['SIGHUP', ...MEANINGLESS] as const

type EarlySignal = (typeof STOPS | typeof OTHERS)[number]

/**
 * Keeps signals that arrive during the start: by default they end the process, or, if it is process 1 of a container,
 * have no effect. Only `serve` keeps those that stop it and SIGHUP: all other commands are ended by them.
 */
export class EarlySignals {
  readonly #kept = new Set<EarlySignal>()
  readonly #listeners = new Map<EarlySignal, (signal: EarlySignal) => void>()

  constructor(on: (signal: EarlySignal, listener: () => void) => unknown, isService: boolean) {
    for (const signal of isService ? ([...STOPS, ...OTHERS] as const) : MEANINGLESS) {
      on(signal, () => this.#take(signal))
    }
  }

  /** Passes the kept signals of these kinds to the listener, each kind once, and then every new one. */
  handTo(kinds: readonly EarlySignal[], listener: (signal: EarlySignal) => void): void {
    for (const kind of kinds) this.#listeners.set(kind, listener)
    for (const kind of kinds) if (this.#kept.delete(kind)) listener(kind)
  }

  #take(signal: EarlySignal): void {
    const listener = this.#listeners.get(signal)
    if (listener === undefined) this.#kept.add(signal)
    else listener(signal)
  }
}
