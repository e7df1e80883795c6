import type { Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** An address behind which one server answers, and later another: connections are cut when it switches. */
export class SwitchingProxy {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number

  private constructor(server: Server, port: number, target: number) {
    this.#server = server
    this.port = port
    this.#target = target
    server.on('connection', (socket) => this.#forward(socket))
  }

  static open(target: number): Promise<SwitchingProxy> {
    const { promise, resolve } = Promise.withResolvers<SwitchingProxy>()
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      resolve(new SwitchingProxy(server, port, target))
    })
    return promise
  }

  switchTo(target: number): void {
    this.#target = target
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #forward(socket: Socket): void {
    const target = connect(this.#target, '127.0.0.1')
    for (const end of [socket, target]) {
      this.#sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        this.#sockets.delete(end)
        socket.destroy()
        target.destroy()
      })
    }
    socket.pipe(target).pipe(socket)
  }
}
