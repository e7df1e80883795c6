import { Buffer } from 'node:buffer'
import { fstatSync, writeSync } from 'node:fs'

/** The part of a writable stream that writing lines needs. */
export interface LineStream {
  /** `then` gets the error, if any, and the number of bytes written despite it, if known. */
  write(text: string, then: (cause?: Error | null, written?: number) => void): unknown
  on(event: 'error', listener: (cause: Error) => void): unknown
}

/**
 * The limit of unwritten characters. Beyond it the log's reader has stopped, and memory is worth more than log lines.
 */
const MOST_UNREAD = 4 * 1024 * 1024

/**
 * Writes lines to a stream that may be slow, full or closed, without waiting for it or failing with it. Lines that
 * cannot be written are dropped and counted. The next line that can be written is preceded by a line with the number of
 * lost lines.
 */
export class LineSink {
  /** The number of dropped lines since the start. */
  dropped = 0
  readonly #stream: LineStream
  readonly #sayLost: (lines: number) => string
  readonly #mostUnread: number
  /** The number of dropped lines that the log has not yet reported. */
  #lost = 0
  /** The last write ended in the middle of a line. */
  #isTorn = false
  #unread = 0
  #waiting: { readonly count: number; readonly done: () => void } | null = null
  #writes = 0
  #ended = 0

  constructor(stream: LineStream, sayLost: (lines: number) => string, mostUnread: number = MOST_UNREAD) {
    this.#stream = stream
    this.#sayLost = sayLost
    this.#mostUnread = mostUnread
    // Without a listener the first EPIPE or ENOSPC would end the process.
    stream.on('error', () => {})
  }

  write(line: string): void {
    if (this.#unread + line.length > this.#mostUnread) return this.#lose()
    const lost = this.#lost
    if (lost > 0) {
      this.#lost = 0
      this.#put(this.#sayLost(lost), () => (this.#lost += lost))
      // If that line cannot be written, this one cannot either.
      if (this.#lost > 0) return this.#lose()
    }
    this.#put(line, () => this.#lose())
  }

  /** Resolves when all lines so far are written or have failed. */
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
        // A single line feed only completes the torn line.
        this.#isTorn = written === 0 ? wasTorn : written === undefined || written > (wasTorn ? 1 : 0)
      }
      this.#settle(text.length)
    }
    try {
      this.#stream.write(text, settle)
    } catch (cause) {
      // Some streams throw an error where others emit it (a full disk).
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
 * Returns a line stream for a file or a device other than a terminal; `null` for anything else. It exists because the
 * runtimes' own streams do not report partial writes to files: Node writes once and ignores the rest.
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
    // The descriptor is closed.
    return false
  }
}

/** Returns the line that reports lost lines, for people or as JSON. */
export function lostLine(lines: number, isJson: boolean, nowMs: number): string {
  const lost = lines === 1 ? 'a line was lost' : `${lines} lines were lost`
  const message = `${lost} here: the disk was full, the reader stopped, or too many lines came at once`
  if (!isJson) return `warning: ${message}`
  return JSON.stringify({ time: new Date(nowMs).toISOString(), level: 'warn', event: 'lines-lost', message, lines })
}
