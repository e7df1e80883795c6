import type { Socket } from 'node:net'
import { connect } from 'node:net'

const AGAIN_MS = 600

/**
 * Connections that a client holds for nothing: silent, in the middle of a request, or answered and kept; opened again
 * as they are closed.
 */
export class Flood {
  /** Connections that were ended by the other side, or never begun. */
  ended = 0
  readonly #port: number
  readonly #sockets = new Set<Socket>()
  #isOver = false

  constructor(port: number, count: number) {
    this.#port = port
    for (let index = 0; index < count; index++) this.#open(index)
  }

  get connected(): number {
    return [...this.#sockets].filter((socket) => !socket.connecting).length
  }

  stop(): void {
    this.#isOver = true
    for (const socket of this.#sockets) socket.destroy()
  }

  #open(index: number): void {
    const said = ['', 'GET / HTTP/1.1\r\nHost: ', 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'][index % 3] ?? ''
    const socket = connect({ port: this.#port, host: '127.0.0.1' }, () => socket.write(said))
    this.#sockets.add(socket)
    socket.on('error', () => {}).resume()
    socket.on('close', () => {
      this.ended++
      this.#sockets.delete(socket)
      if (!this.#isOver) setTimeout(() => this.#open(index), AGAIN_MS)
    })
  }
}
