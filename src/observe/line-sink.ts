/** As much of a writable stream as lines need. */
export interface LineStream {
  write(text: string, then: (cause?: Error | null) => void): unknown
  on(event: 'error', listener: (cause: Error) => void): unknown
}

/** More than this unread is a reader that stands still; the memory is worth more than its lines. */
const MOST_UNREAD = 4 * 1024 * 1024

/**
 * Writes lines to a stream that may be slow, full or gone, without ever waiting for it or failing with it. A line that
 * cannot be written is dropped and counted: the service is worth more than its log.
 */
export class LineSink {
  /** Lines that were not written, since the start. */
  dropped = 0
  readonly #stream: LineStream
  readonly #mostUnread: number
  #unread = 0
  #waiting: { readonly count: number; readonly done: () => void } | null = null
  #writes = 0
  #ended = 0

  constructor(stream: LineStream, mostUnread: number = MOST_UNREAD) {
    this.#stream = stream
    this.#mostUnread = mostUnread
    // Without a listener the first EPIPE or ENOSPC ends the process.
    stream.on('error', () => {})
  }

  write(line: string): void {
    if (this.#unread + line.length > this.#mostUnread) {
      this.dropped++
      return
    }
    const text = `${line}\n`
    this.#unread += text.length
    this.#writes++
    try {
      this.#stream.write(text, (cause) => {
        if (cause !== undefined && cause !== null) this.dropped++
        this.#settle(text.length)
      })
    } catch {
      // Some streams throw what others emit (a full disk).
      this.dropped++
      this.#settle(text.length)
    }
  }

  /** Resolves when all lines so far are out, or cannot be. */
  drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#ended >= this.#writes) resolve()
    else this.#waiting = { count: this.#writes, done: resolve }
    return promise
  }

  #settle(length: number): void {
    this.#unread -= length
    this.#ended++
    if (this.#waiting !== null && this.#ended >= this.#waiting.count) this.#waiting.done()
  }
}
