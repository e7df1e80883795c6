import { type Server, type Socket, connect, createServer } from 'node:net'

/** A proxy in front of PostgreSQL. It swallows what clients with some `application_name` send and are sent. */
export class NamedRelay {
  readonly port: number
  readonly cut = new Set<string>()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, port: number, target: number) {
    this.#server = server
    this.port = port
    server.on('connection', (client) => {
      const database = connect(target, '127.0.0.1')
      let name = ''
      client.on('data', (bytes) => {
        name ||= /application_name\0([^\0]+)/.exec(bytes.toString('latin1'))?.[1] ?? ''
        if (!this.cut.has(name)) database.write(bytes)
      })
      database.on('data', (bytes) => {
        if (!this.cut.has(name)) client.write(bytes)
      })
      for (const [from, to] of [
        [client, database],
        [database, client],
      ] as const) {
        this.#sockets.add(from)
        from.on('error', () => {})
        from.on('close', () => {
          this.#sockets.delete(from)
          to.destroy()
        })
      }
    })
  }

  static open(target: number): Promise<NamedRelay> {
    const { promise, resolve } = Promise.withResolvers<NamedRelay>()
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(new NamedRelay(server, typeof address === 'object' && address !== null ? address.port : 0, target))
    })
    return promise
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
