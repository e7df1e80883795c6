import { createServer } from 'node:net'

/** A port of the loopback address that nobody listens on now. */
export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const server = createServer()
  server.on('error', reject).listen(0, '127.0.0.1', () => {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    server.close(() => resolve(port))
  })
  return promise
}
