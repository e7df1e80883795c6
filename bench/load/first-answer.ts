import { HOST } from './callers.ts'
import { ResponseReader } from './response-reader.ts'

const AGAIN_MS = 1
const PATIENCE_MS = 600_000

/** Requests an event about every millisecond, with minimal work, until it is answered with 200. */
export async function untilAnswered(port: number, id: string): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS
  while (performance.now() < untilMs) {
    if (await isAnswered(port, id)) return
    await Bun.sleep(AGAIN_MS)
  }
  throw new Error(`${id} was not answered within ${PATIENCE_MS} ms`)
}

/** Sends requests on one connection; resolves to false if it is refused or closed. */
function isAnswered(port: number, id: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const request = `GET /api/events/${id} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
  const reader = new ResponseReader()
  const socket = {
    open: (to: Bun.Socket) => void to.write(request),
    data: (from: Bun.Socket, chunk: Buffer) => {
      if (!reader.take(chunk)) return
      if (reader.status !== 200) setTimeout(() => from.write(request), AGAIN_MS)
      else {
        resolve(true)
        from.end()
      }
    },
    close: () => resolve(false),
  }
  Bun.connect({ hostname: '127.0.0.1', port, socket }).catch(() => resolve(false))
  return promise
}
