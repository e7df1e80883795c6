import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type Socket, Server as NetServer } from 'node:net'

const LOOPBACK = /^(?:::1$|(?:::ffff:)?127\.)/

function isLoopback({ remoteAddress = '' }: Socket): boolean {
  return LOOPBACK.test(remoteAddress)
}

/** The interval of checks for idle connections while the server ends. */
const LOOK_MS = 25

/**
 * The connections of a node:http server, with their unanswered requests. The server's own `close` would destroy
 * connections whose answers are queued or not read yet.
 */
export class Connections {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** The open connections without a complete request so far, oldest first. */
  readonly #silent = new Set<Socket>()
  /** The pending responses of each connection: not answered yet, or waiting behind an earlier response. */
  readonly #pending = new WeakMap<Socket, Set<ServerResponse>>()
  /** The newest pending response of each connection. */
  readonly #newest = new WeakMap<Socket, ServerResponse>()
  /** `bytesRead` of each connection at the last check. */
  readonly #seen = new WeakMap<Socket, number>()

  constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      this.#silent.add(socket)
      socket.once('close', () => this.#forget(socket))
    })
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket)
    this.#silent.delete(socket)
  }

  /** Records that a request has arrived: no new connection replaces this one. */
  heard({ socket }: IncomingMessage): void {
    this.#silent.delete(socket)
  }

  /** Records a pending response. Returns the number of pending responses on its connection. */
  addPending({ socket }: IncomingMessage, response: ServerResponse): number {
    const pending = this.#pending.get(socket) ?? new Set()
    this.#pending.set(socket, pending)
    if (!pending.has(response)) response.once('close', () => pending.delete(response))
    pending.add(response)
    this.#newest.set(socket, response)
    return pending.size
  }

  /** Returns true if no later request of the same connection is pending. */
  isNewest({ socket }: IncomingMessage, response: ServerResponse): boolean {
    return (this.#newest.get(socket) ?? response) === response
  }

  /**
   * Limits the number of open connections. A new connection replaces the oldest one that has sent no request, but not
   * one of this machine unless it comes from there too. Otherwise it is closed.
   *
   * @param replacesIdle whether a new connection of this machine may also replace the oldest idle one, which keeps
   *   probes working
   */
  limit(most: number, { replacesIdle }: { readonly replacesIdle: boolean }): void {
    this.#server.on('connection', (socket: Socket) => {
      if (this.#open.size <= most) return
      this.#silent.delete(socket)
      const isLocal = isLoopback(socket)
      const replaced =
        this.#silent.values().find((silent) => isLocal || !isLoopback(silent)) ??
        (isLocal && replacesIdle ? this.#oldestIdle() : undefined)
      if (replaced !== undefined) this.#silent.add(socket)
      const closed = replaced ?? socket
      this.#forget(closed)
      closed.destroy()
    })
  }

  #oldestIdle(): Socket | undefined {
    return this.#open.values().find((socket) => (this.#pending.get(socket)?.size ?? 0) === 0)
  }

  /** Stops listening. Resolves when all connections are closed, each as soon as it has no pending response. */
  async end(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    NetServer.prototype.close.call(this.#server, () => resolve())
    const timer = setInterval(() => this.#endIdle(), LOOK_MS)
    await promise
    clearInterval(timer)
  }

  #endIdle(): void {
    for (const socket of this.#open) {
      if ((this.#pending.get(socket)?.size ?? 0) > 0 || socket.writableLength > 0) continue
      // A request may be arriving in parts.
      if (this.#seen.get(socket) === socket.bytesRead) socket.destroySoon()
      else this.#seen.set(socket, socket.bytesRead)
    }
  }
}
