import { Buffer } from 'node:buffer'
import { fstatSync, writeSync } from 'node:fs'

/** As much of a writable stream as lines need. */
export interface LineStream {
  /** `then` is told why it failed, and how many bytes were written all the same, where that is known. */
  write(text: string, then: (cause?: Error | null, written?: number) => void): unknown
  on(event: 'error', listener: (cause: Error) => void): unknown
}

/** More than this unread is a reader that stands still; the memory is worth more than its lines. */
const MOST_UNREAD = 4 * 1024 * 1024

/**
 * Writes lines to a stream that may be slow, full or gone, without ever waiting for it or failing with it. A line that
 * cannot be written is dropped and counted: the service is worth more than its log. Once lines can be written again the
 * first of them says how many were lost.
 */
export class LineSink {
  /** Lines that were not written, since the start. */
  dropped = 0
  readonly #stream: LineStream
  readonly #sayLost: (lines: number) => string
  readonly #mostUnread: number
  /** Lines that were not written, and of which no line has told yet. */
  #lost = 0
  /** What was written last ends in the middle of a line. */
  #isTorn = false
  #unread = 0
  #waiting: { readonly count: number; readonly done: () => void } | null = null
  #writes = 0
  #ended = 0

  constructor(stream: LineStream, sayLost: (lines: number) => string, mostUnread: number = MOST_UNREAD) {
    this.#stream = stream
    this.#sayLost = sayLost
    this.#mostUnread = mostUnread
    // Without a listener the first EPIPE or ENOSPC ends the process.
    stream.on('error', () => {})
  }

  write(line: string): void {
    if (this.#unread + line.length > this.#mostUnread) return this.#lose()
    const lost = this.#lost
    if (lost > 0) {
      this.#lost = 0
      this.#put(this.#sayLost(lost), () => (this.#lost += lost))
      // Nor can the line be, then.
      if (this.#lost > 0) return this.#lose()
    }
    this.#put(line, () => this.#lose())
  }

  /** Resolves when all lines so far are out, or cannot be. */
  drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#ended >= this.#writes) resolve()
    else this.#waiting = { count: this.#writes, done: resolve }
    return promise
  }

  #lose(): void {
    this.dropped++
    this.#lost++
  }

  #put(line: string, onFailure: () => void): void {
    const wasTorn = this.#isTorn
    const text = `${wasTorn ? '\n' : ''}${line}\n`
    this.#isTorn = false
    this.#unread += text.length
    this.#writes++
    const settle = (cause?: unknown, written?: number): void => {
      if (cause !== undefined && cause !== null) {
        onFailure()
        // A line feed alone ends what was torn before.
        this.#isTorn = written === 0 ? wasTorn : written === undefined || written > (wasTorn ? 1 : 0)
      }
      this.#settle(text.length)
    }
    try {
      this.#stream.write(text, settle)
    } catch (cause) {
      // Some streams throw what others emit (a full disk).
      settle(cause)
    }
  }

  #settle(length: number): void {
    this.#unread -= length
    this.#ended++
    if (this.#waiting !== null && this.#ended >= this.#waiting.count) this.#waiting.done()
  }
}

/**
 * A file, or a device that is no terminal, as a stream of lines; null for anything else. The runtimes' own streams do not
 * say that a file took a part of a line only: Node writes once and looks no further.
 */
export function fileLines(descriptor: number): LineStream | null {
  if (!isFile(descriptor)) return null
  return {
    write(text, then) {
      const bytes = Buffer.from(text)
      let written = 0
      try {
        while (written < bytes.length) written += writeSync(descriptor, bytes, written)
        then()
      } catch (cause) {
        then(cause instanceof Error ? cause : new Error('a line could not be written', { cause }), written)
      }
    },
    on() {},
  }
}

function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor)
    return stats.isFile() || stats.isCharacterDevice()
  } catch {
    // It is closed.
    return false
  }
}

/** The line that stands for others that could not be written, for a person or as JSON. */
export function lostLine(lines: number, isJson: boolean, nowMs: number): string {
  const lost = lines === 1 ? 'a line was lost' : `${lines} lines were lost`
  const message = `${lost} here: a full disk, a reader that stood still, or more at once than is held`
  if (!isJson) return `warning: ${message}`
  return JSON.stringify({ time: new Date(nowMs).toISOString(), level: 'warn', event: 'lines-lost', message, lines })
}
