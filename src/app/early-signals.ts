/** Each would end Bun at once, and the first opens a debugger on Node; an operator who sends one most likely means SIGHUP. */
const MEANINGLESS = ['SIGUSR1', 'SIGUSR2'] as const

type EarlySignal = 'SIGHUP' | (typeof MEANINGLESS)[number]

/**
 * Keeps the signals of the start, from the first module on: by default each of them would end the process. SIGHUP is
 * kept for a service alone, since a closed terminal ends every other command.
 */
export class EarlySignals {
  readonly #kept: EarlySignal[] = []
  #listener: ((signal: EarlySignal) => void) | null = null

  constructor(on: (signal: EarlySignal, listener: () => void) => unknown, isService: boolean) {
    for (const signal of isService ? (['SIGHUP', ...MEANINGLESS] as const) : MEANINGLESS) {
      on(signal, () => this.#take(signal))
    }
  }

  /** Tells the listener every signal from now on, and first those that came before; of the same several, one. */
  handTo(listener: (signal: EarlySignal) => void): void {
    this.#listener = listener
    for (const signal of new Set(this.#kept.splice(0))) listener(signal)
  }

  #take(signal: EarlySignal): void {
    if (this.#listener !== null) this.#listener(signal)
    else if (!this.#kept.includes(signal)) this.#kept.push(signal)
  }
}
