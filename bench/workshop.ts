import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lists } from './lists/data.ts'
import { writeLists } from './lists/data.ts'

const SHARED_MEMORY = '/dev/shm'
/** A million events some ten times, as the list's writer keeps them. */
const ROOM_BYTES = 8e9

/** A process of a part. */
interface Stoppable {
  readonly stop: () => Promise<unknown>
}

/** Where the parts work: folders, lists and processes, all cleared away whatever happens. */
export class Workshop {
  /** What could not be done here, and why. */
  readonly leftOut: Set<string> = new Set()
  readonly #folders: string[] = []
  readonly #kept: Stoppable[] = []
  readonly #lists = new Map<number, Lists>()
  readonly #changing = new Map<number, Lists>()

  constructor() {
    // Also after an error and a signal. Processes are killed at the exit by the module that starts them.
    process.on('exit', () => this.#clear())
    for (const [signal, status] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      process.once(signal, () => process.exit(status))
    }
  }

  /** A new empty folder. */
  folder(): string {
    return this.#folderIn(tmpdir())
  }

  /** One in memory where there is room: the disk adds nothing. */
  folderInMemory(): string {
    return this.#folderIn(hasRoom() ? SHARED_MEMORY : tmpdir())
  }

  /** Lists of so many events that no part may change. */
  lists(count: number): Lists {
    return this.#listsIn(this.#lists, count)
  }

  /** Lists of so many events for a part to change. */
  changingLists(count: number): Lists {
    return this.#listsIn(this.#changing, count)
  }

  /** Has a process end with the part. */
  keep<Process extends Stoppable>(process: Process): Process {
    this.#kept.push(process)
    return process
  }

  /** Ends what the part started. */
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
    // A process that was killed just now may still be putting a file.
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function hasRoom(): boolean {
  if (!existsSync(SHARED_MEMORY)) return false
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return bavail * bsize > ROOM_BYTES
}
