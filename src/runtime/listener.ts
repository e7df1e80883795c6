import type { Answer, Call } from '../http/call.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** Keep-alive of an idle connection. */
  readonly idleMs: number
  readonly answer: (call: Call) => Answer | Promise<Answer>
}

/** A public listener that accepts connections. */
export interface Listener {
  readonly host: string
  readonly port: number
  /** Accepts nothing new, lets what is in flight end, and closes what is left after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

/** Starts to listen; rejects with a system error, whose `code` says why (`EADDRINUSE` …). */
export type Listen = (options: ListenOptions) => Promise<Listener>

export interface FetchListenOptions {
  readonly host: string
  readonly port: number
  readonly fetch: (request: Request) => Response | Promise<Response>
}

/** The same for a web-standard handler: for the operations side, where speed is not the point. */
export type ListenFetch = (options: FetchListenOptions) => Promise<Listener>

/** The address people can open, with brackets around IPv6. */
export function addressOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
