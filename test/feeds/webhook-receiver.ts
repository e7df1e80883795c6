import { Webhook } from 'standardwebhooks'
import { eventually } from '../support/eventually.ts'

/** A call as a receiver got it. */
export interface ReceivedCall {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

interface Told {
  readonly type: string
  readonly data: { readonly Items: readonly { readonly Id: string; readonly State: string }[]; readonly Next: string }
}

/** An HTTP server that keeps the calls it gets, and answers each with `status` and `headers`. */
export class WebhookReceiver {
  readonly calls: ReceivedCall[] = []
  status = 204
  headers: Readonly<Record<string, string>> = {}
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      this.calls.push({ path: pathname, headers: Object.fromEntries(request.headers), text: await request.text() })
      return new Response(null, { status: this.status, headers: this.headers })
    },
  })

  get origin(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  /** Waits until there are so many calls, and returns them. */
  async atLeast(count: number): Promise<readonly ReceivedCall[]> {
    return eventually(
      async () => this.calls,
      ({ length }) => length >= count,
    )
  }

  stop(): Promise<void> {
    return this.#server.stop(true)
  }
}

/** Reads the body of a call, checked by the library of Standard Webhooks. Throws if the signature is wrong. */
export function verified({ text, headers }: ReceivedCall, secret: string): Told {
  return new Webhook(secret).verify(text, { ...headers }) as Told
}
