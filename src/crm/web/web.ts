/** What a connector needs of the runtime to speak HTTP; it is passed in. */
export interface Web {
  /** One exchange, its body included; redirects are not followed. Rejects with an error whose `code` says why. */
  send(request: WebRequest): Promise<WebReply>
  /** Lets go of idle connections. */
  close(): void
}

export interface WebRequest {
  readonly method: 'GET' | 'POST'
  /** Sent as it is: nothing of its path or query is encoded anew. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
  /** On a connection of its own rather than one that was used before. */
  readonly fresh: boolean
  readonly mostBytes: number
}

export interface WebReply {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** How a CRM on the web is reached. */
interface WayOut {
  /** Certificates in PEM to trust besides the usual ones. */
  readonly ca: readonly string[]
  /** The proxy that a URL is reached by, null for none. */
  readonly proxyOf: (url: URL) => string | null
}

export type OpenWeb = (wayOut: WayOut) => Web
