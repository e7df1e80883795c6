import { Buffer } from 'node:buffer'
import { connect } from 'node:net'
import { PATIENCE_MS } from './eventually.ts'

/** Sends exactly these bytes (one per character). Resolves with everything received until the other side closes. */
export function exchange(port: number, request: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const received: Buffer[] = []
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(Buffer.from(request, 'latin1')))
  socket.setTimeout(PATIENCE_MS, () => {
    const soFar = Buffer.concat(received).toString('latin1')
    socket.destroy(new Error(`silent for ${PATIENCE_MS} ms after ${JSON.stringify(request)}; before: ${soFar}`))
  })
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.on('error', reject)
  socket.on('close', () => resolve(Buffer.concat(received)))
  return promise
}

/** Returns true if a server accepts connections at this port. */
export function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ port, host: '127.0.0.1' }, () => {
    socket.destroy()
    resolve(true)
  })
  socket.on('error', () => resolve(false))
  return promise
}
