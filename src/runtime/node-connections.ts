import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type Socket, Server as NetServer } from 'node:net'

const LOOPBACK = /^(?:::1$|(?:::ffff:)?127\.)/

/** How often it is looked for connections that an end has to wait for no longer. */
const LOOK_MS = 25

/**
 * The connections of a node:http server, and what is owed on them. Its own `close` would destroy each that has no request
 * without an answer, with all that was answered and is not yet read, and with the answers that wait for their turn.
 */
export class Connections {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** The responses of a connection that wait for their turn, or for their answer, */
  readonly #owed = new WeakMap<Socket, Set<ServerResponse>>()
  /** and the last of them. */
  readonly #newest = new WeakMap<Socket, ServerResponse>()
  /** How much had come of a connection when it was last looked at. */
  readonly #seen = new WeakMap<Socket, number>()

  constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
    })
  }

  /** Notes that a request is not answered at once; returns how many of its connection are not. */
  owe({ socket }: IncomingMessage, response: ServerResponse): number {
    const owed = this.#owed.get(socket) ?? new Set()
    this.#owed.set(socket, owed)
    if (!owed.has(response)) response.once('close', () => owed.delete(response))
    owed.add(response)
    this.#newest.set(socket, response)
    return owed.size
  }

  /** Whether nothing that came on its connection waits behind it. */
  isNewest({ socket }: IncomingMessage, response: ServerResponse): boolean {
    return (this.#newest.get(socket) ?? response) === response
  }

  /**
   * Keeps at most `most` connections open. A new one from this machine takes the place of the oldest that has no request
   * in flight, so that a probe is always answered; any other is closed.
   */
  limit(most: number): void {
    this.#server.on('connection', (socket: Socket) => {
      if (this.#open.size <= most) return
      const replaced = LOOPBACK.test(socket.remoteAddress ?? '') ? this.#oldestIdle() : undefined
      const closed = replaced ?? socket
      this.#open.delete(closed)
      closed.destroy()
    })
  }

  #oldestIdle(): Socket | undefined {
    return this.#open.values().find((socket) => (this.#owed.get(socket)?.size ?? 0) === 0)
  }

  /** Accepts no more, and resolves when all connections are closed: each as soon as nothing is owed on it. */
  async end(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    NetServer.prototype.close.call(this.#server, () => resolve())
    const timer = setInterval(() => this.#endIdle(), LOOK_MS)
    await promise
    clearInterval(timer)
  }

  #endIdle(): void {
    for (const socket of this.#open) {
      if ((this.#owed.get(socket)?.size ?? 0) > 0 || socket.writableLength > 0) continue
      // What comes in parts may be a request.
      if (this.#seen.get(socket) === socket.bytesRead) socket.destroySoon()
      else this.#seen.set(socket, socket.bytesRead)
    }
  }
}
