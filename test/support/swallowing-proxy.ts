import type { Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** A proxy in front of a server. While it swallows, it accepts connections and bytes and sends nothing. */
export class SwallowingProxy {
  readonly port: number
  isSwallowing = false
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, port: number, target: number) {
    this.#server = server
    this.port = port
    server.on('connection', (socket) => {
      const there = connect(target, '127.0.0.1')
      this.#pass(socket, there)
      this.#pass(there, socket)
    })
  }

  static open(target: number): Promise<SwallowingProxy> {
    const { promise, resolve } = Promise.withResolvers<SwallowingProxy>()
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(new SwallowingProxy(server, typeof address === 'object' && address !== null ? address.port : 0, target))
    })
    return promise
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #pass(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.on('error', () => {})
    from.on('data', (bytes) => (this.isSwallowing ? null : to.write(bytes)))
    from.on('close', () => {
      this.#sockets.delete(from)
      if (!this.isSwallowing) to.destroy()
    })
  }
}
