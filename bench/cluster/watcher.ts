import type { Buffer } from 'node:buffer'
import { HOST } from '../load/callers.ts'

const NAME = /"Name":"watched (\d+)"/

/**
 * Requests one event again as soon as it is answered. Notes when each number in the event's name was first seen, and
 * the longest response time.
 */
export class Watcher {
  /** When each number, or a higher one, was first seen. */
  readonly seenAtMs: number[] = []
  worstMs = 0
  answers = 0
  readonly #request: string
  #sentMs = 0
  #socket: Bun.Socket | null = null

  private constructor(id: string) {
    this.#request = `GET /api/events/${id} HTTP/1.1\r\nHost: ${HOST}\r\nAccept: application/json\r\n\r\n`
  }

  static async open(port: number, id: string): Promise<Watcher> {
    const watcher = new Watcher(id)
    await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (socket) => watcher.#begin(socket),
        data: (socket, chunk) => watcher.#take(socket, chunk),
        close: () => watcher.#begin(null),
      },
    })
    return watcher
  }

  /** Restarts the measurement. */
  forget(): void {
    this.worstMs = this.answers = 0
  }

  end(): void {
    this.#socket?.end()
    this.#socket = null
  }

  #begin(socket: Bun.Socket | null): void {
    this.#socket = socket
    if (socket !== null) this.#ask(socket)
  }

  #ask(socket: Bun.Socket): void {
    this.#sentMs = performance.now()
    socket.write(this.#request)
  }

  /** Takes a response; one of a single record arrives in one piece on the same machine. */
  #take(socket: Bun.Socket, chunk: Buffer): void {
    const nowMs = performance.now()
    this.answers++
    this.worstMs = Math.max(this.worstMs, nowMs - this.#sentMs)
    const number = Number(NAME.exec(chunk.toString('latin1'))?.[1] ?? -1)
    for (let missing = this.seenAtMs.length; missing <= number; missing++) this.seenAtMs[missing] = nowMs
    // Let other work of this process run.
    setImmediate(() => {
      if (this.#socket === socket) this.#ask(socket)
    })
  }
}
