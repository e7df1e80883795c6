import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lists } from './lists/data.ts'
import { writeLists } from './lists/data.ts'

const SHARED_MEMORY = '/dev/shm'
/** Room for about ten copies of a million events, as the list writer keeps them. */
const ROOM_BYTES = 8e9

/** A process that a part started. */
interface Stoppable {
  readonly stop: () => Promise<unknown>
}

/** Provides folders, lists and processes to the parts, and clears all of them away in any case. */
export class Workshop {
  /** What could not be measured here, and why. */
  readonly leftOut: Set<string> = new Set()
  readonly #folders: string[] = []
  readonly #kept: Stoppable[] = []
  readonly #lists = new Map<number, Lists>()
  readonly #changing = new Map<number, Lists>()

  constructor() {
    // Clears up also after errors and signals. The module that starts processes kills them at exit.
    process.on('exit', () => this.#clear())
    for (const [signal, status] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      process.once(signal, () => process.exit(status))
    }
  }

  /** Creates an empty folder. */
  folder(): string {
    return this.#folderIn(tmpdir())
  }

  /** Creates an empty folder in memory if there is room, to exclude the disk from measurements. */
  folderInMemory(): string {
    return this.#folderIn(hasRoom() ? SHARED_MEMORY : tmpdir())
  }

  /** Lists of this many events, which no part may change. */
  lists(count: number): Lists {
    return this.#listsIn(this.#lists, count)
  }

  /** Lists of this many events that a part may change. */
  changingLists(count: number): Lists {
    return this.#listsIn(this.#changing, count)
  }

  /** Stops the process when the part ends. */
  keep<Process extends Stoppable>(process: Process): Process {
    this.#kept.push(process)
    return process
  }

  /** Stops everything that the part started. */
  async tidy(): Promise<void> {
    await Promise.all(this.#kept.splice(0).map((process) => process.stop()))
  }

  #listsIn(written: Map<number, Lists>, count: number): Lists {
    const lists = written.get(count) ?? writeLists(this.folderInMemory(), count)
    written.set(count, lists)
    return lists
  }

  #folderIn(parent: string): string {
    const folder = mkdtempSync(join(parent, 'marquee-bench-'))
    this.#folders.push(folder)
    return folder
  }

  #clear(): void {
    // A process that was just killed may still be writing a file.
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function hasRoom(): boolean {
  if (!existsSync(SHARED_MEMORY)) return false
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return bavail * bsize > ROOM_BYTES
}
