import type { OnPause } from '../../sync/port.ts'

/** Passes on to both lists that requests to their CRM wait. */
export class Pauses {
  readonly #callbacks: OnPause[] = []

  on(callback: OnPause): void {
    this.#callbacks.push(callback)
  }

  readonly tell: OnPause = (forMs, why) => {
    for (const callback of this.#callbacks) callback(forMs, why)
  }
}
