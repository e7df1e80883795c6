import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { connect } from 'node:net'

/** A connection that does what no good client does. Nothing is read of it until somebody asks. */
export class RawConnection {
  readonly socket: Socket
  /** Resolves when the other side has ended it, however it did. */
  readonly closed: Promise<void>
  readonly #received: Buffer[] = []
  #news: () => void = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve()
        this.#news()
      })
    })
    socket.on('error', () => {})
  }

  static open(port: number, host = '127.0.0.1'): Promise<RawConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<RawConnection>()
    const socket = connect({ port, host }, () => resolve(new RawConnection(socket)))
    socket.once('error', reject)
    return promise
  }

  /** Text is one byte a character. */
  send(text: string): void {
    this.socket.write(Buffer.from(text, 'latin1'))
  }

  get received(): string {
    return Buffer.concat(this.#received).toString('latin1')
  }

  /** Forgets what came until now: `until` looks through all that is kept. */
  forget(): void {
    this.#received.length = 0
  }

  /** Reads from now on. */
  read(): this {
    this.socket.on('data', (chunk: Buffer) => {
      this.#received.push(chunk)
      this.#news()
    })
    return this
  }

  /** Resolves with what came when `isEnough` says so, or when the other side ended it. */
  async until(isEnough: (received: string) => boolean): Promise<string> {
    while (!isEnough(this.received) && !this.socket.destroyed) {
      await new Promise<void>((resolve) => (this.#news = resolve))
    }
    return this.received
  }

  /** Ends it without a farewell: the other side gets a reset. */
  reset(): void {
    this.socket.resetAndDestroy()
  }

  destroy(): void {
    this.socket.destroy()
  }
}
