import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly method: string
  readonly path: string
  /** The path and the query as they were sent. */
  readonly target: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  /** The body as JSON; null if there is none. */
  readonly body: unknown
}

/** What the server answers: a JSON value, or more about the answer. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly text?: string | Buffer
  /** Ends the connection in the middle of the body. */
  readonly isCut?: boolean
}

/** A real HTTP server, whose answers a test decides. */
export class JsonServer {
  readonly asked: Asked[] = []
  readonly #server: Server
  answer: (asked: Asked) => Answer | Promise<Answer>

  private constructor(server: Server, answer: JsonServer['answer']) {
    this.#server = server
    this.answer = answer
  }

  static async open(answer: JsonServer['answer'] = () => ({ json: [] })): Promise<JsonServer> {
    const server = createServer((request, response) => void opened.#reply(request, response))
    const opened = new JsonServer(server, answer)
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    return opened
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  async #reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
    const { url: target = '/' } = request
    const { pathname: path, searchParams: query } = new URL(target, this.url)
    const { method = '', headers } = request
    const isJson = headers['content-type']?.includes('json') === true
    const body: unknown = text === '' ? null : isJson ? JSON.parse(text) : text
    const asked = { method, path, target, query, headers, body }
    this.asked.push(asked)
    const {
      status = 200,
      headers: sent = {},
      json,
      text: answer = JSON.stringify(json) ?? '',
      isCut = false,
    } = await this.answer(asked)
    response.writeHead(status, { 'content-type': 'application/json', ...sent })
    if (!isCut) return void response.end(answer)
    response.write(answer)
    setTimeout(() => response.destroy(), 20)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => {
      this.#server.close(resolve)
    })
  }
}
