import type { Answer, Call } from '../http/call.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** The least that an idle connection lives. */
  readonly idleMs: number
  readonly answer: (call: Call) => Answer | Promise<Answer>
}

/** A listener that accepts connections. */
export interface Listener {
  readonly host: string
  readonly port: number
  /** Accepts nothing new, lets what is in flight end, and closes what is left after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

export interface PublicListener extends Listener {
  /** The least that an idle connection lives: what was asked for, or all that the runtime can do. */
  readonly idleMs: number
}

/** Starts to listen; rejects with a system error, whose `code` says why (`EADDRINUSE` …). */
export type Listen = (options: ListenOptions) => Promise<PublicListener>

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
