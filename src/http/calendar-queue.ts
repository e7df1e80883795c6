import { Mutex } from '../time/waiting.ts'
import type { ReadyPage } from './ready-pages.ts'

/** The most calendars that wait. With more, a proxy would consider the service dead before the last was written. */
const MOST_WAITING = 4
/** The bytes of large calendars written in one window. Slow readers hold them until they are sent. */
const MOST_BYTES = 64 * 1024 * 1024
const LARGE_BYTES = 1024 * 1024
const WINDOW_MS = 10_000

/**
 * Writes calendars one after another, because one calendar may cost as much as a hundred records. Written together,
 * calendars would delay all other requests.
 */
export class CalendarQueue {
  readonly #mutex = new Mutex()
  #waiting = 0
  #written: { readonly atMs: number; readonly bytes: number }[] = []

  /** Writes a calendar when its turn comes. Returns `null` if too many are waiting or were written lately. */
  write(write: () => Promise<ReadyPage>): Promise<ReadyPage> | null {
    const nowMs = performance.now()
    this.#written = this.#written.filter(({ atMs }) => atMs > nowMs - WINDOW_MS)
    const bytes = this.#written.reduce((sum, each) => sum + each.bytes, 0)
    if (this.#waiting >= MOST_WAITING || bytes > MOST_BYTES) return null
    this.#waiting++
    return this.#mutex.run(write).then(
      (page) => {
        this.#waiting--
        if (page.body.length >= LARGE_BYTES) this.#written.push({ atMs: performance.now(), bytes: page.body.length })
        return page
      },
      (cause: unknown) => {
        this.#waiting--
        throw cause
      },
    )
  }
}
