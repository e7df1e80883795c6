import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Files in memory keep the disk out of the figures. */
const SHARED_MEMORY = '/dev/shm'

/** How much is measured. */
export interface Scale {
  /** Numbers of events. `serve` uses the first two, `read` the second. */
  readonly sizes: readonly [number, number, ...number[]]
  /** Rounds of `serve` for each server. */
  readonly rounds: number
  /** The length of a round; other programs measure for some times as long. */
  readonly seconds: number
  /** Starts of `size`. */
  readonly starts: number
}

interface Stoppable {
  readonly stop: () => Promise<unknown>
}

/** Gives the programs folders and keeps their processes; clears all of them away in any case. */
export class Workshop {
  readonly #folders: string[] = []
  readonly #running: Stoppable[] = []

  constructor() {
    process.on('exit', () => {
      // A process that was just killed may still be writing a file.
      for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    })
    process.once('SIGINT', () => process.exit(130))
    process.once('SIGTERM', () => process.exit(143))
  }

  /** Creates an empty folder, in memory if the machine has such a place. */
  folder(): string {
    const folder = mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'marquee-bench-'))
    this.#folders.push(folder)
    return folder
  }

  /** Stops the process when the round of measurements ends. */
  keep<Process extends Stoppable>(process: Process): Process {
    this.#running.push(process)
    return process
  }

  /** Stops everything that was kept. */
  async tidy(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((one) => one.stop()))
  }
}
