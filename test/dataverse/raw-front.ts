import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:http'
import type { Server, Socket } from 'node:net'
import { createServer } from 'node:net'

/** What is sent instead of an answer, given the body that it would have had. */
export type RawAnswer = (socket: Socket, body: Buffer) => void

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** How many bytes of what was received it has. */
  readonly length: number
}

const OF_ONE_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

/** An address in front of a stand-in, where an answer can be replaced by any bytes at all. */
export class RawFront {
  /** The port of the stand-in. */
  target = 0
  /** Which requests get what instead; null lets all through. */
  fault: { readonly isFor: (path: string) => boolean; readonly answer: RawAnswer } | null = null
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor() {
    this.#server = createServer((socket) => this.#serve(socket))
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      for (let asked = requestOf(received); asked !== null; asked = requestOf(received)) {
        received = received.subarray(asked.length)
        this.#answer(socket, asked)
      }
    })
  }

  #answer(socket: Socket, { method, path, headers, body }: Asked): void {
    const replacement = this.fault?.isFor(path) === true ? this.fault.answer : null
    const options = { host: '127.0.0.1', port: this.target, method, path, headers: { ...headers, connection: 'close' } }
    const forwarded = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const answer = Buffer.concat(chunks)
        if (replacement === null) socket.write(whole(response.statusCode ?? 0, response.headers, answer))
        else replacement(socket, answer)
      })
    })
    forwarded.on('error', () => socket.destroy())
    forwarded.end(body)
  }
}

/** The first request of these bytes, null where they hold none in full. */
function requestOf(received: Buffer): Asked | null {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(lines.map(fieldOf))
  const length = end + 4 + Number(headers['content-length'] ?? 0)
  if (received.length < length) return null
  const [method = '', path = ''] = first.split(' ')
  return { method, path, headers, body: received.subarray(end + 4, length), length }
}

function fieldOf(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

function whole(status: number, headers: IncomingHttpHeaders, body: Buffer): Buffer {
  const fields = Object.entries(headers).filter(([name]) => !OF_ONE_HOP.has(name))
  const lines = fields.map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} As It Is\r\n${lines}content-length: ${body.length}\r\n\r\n`),
    body,
  ])
}
