import { type IncomingMessage, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'

/** One answer of a test server. */
export interface WebReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface SeenRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
}

/** A web server on a port of its own, which answers from a function and records what it was asked. */
export interface WebServer {
  readonly origin: string
  readonly port: number
  readonly seen: SeenRequest[]
  close(): Promise<void>
}

export async function webServer(
  answer: (request: SeenRequest) => WebReply,
  tls: { readonly key: string; readonly cert: string } | null = null,
): Promise<WebServer> {
  const seen: SeenRequest[] = []
  const listener: Parameters<typeof createServer>[1] = (request, response) => {
    const asked = { path: request.url ?? '', headers: request.headers }
    seen.push(asked)
    const { status = 200, headers = {}, body = '' } = answer(asked)
    response.writeHead(status, headers)
    response.end(status === 304 ? undefined : body)
  }
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    origin: `${tls === null ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
