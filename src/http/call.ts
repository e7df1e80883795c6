/** A request as the service sees it, whatever the runtime: strings, and nothing built that is not asked for. */
export interface Call {
  readonly method: string
  /** The path of the URL as browsers parse it (WHATWG), the query left out (contract §1). */
  readonly pathname: string
  /** The header's lines joined by commas, null where there is none. Asked for only where it is needed. */
  header(name: 'accept' | 'traceparent' | 'if-none-match'): string | null
}

/**
 * What is sent back. `body` is null where there is none; for HEAD it is what GET would have carried, so that the runtime
 * can say its length (RFC 9110 §9.3.2).
 */
export interface Answer {
  readonly status: number
  /** All but the ETag. The same object where the same is said, so that a runtime can keep what it makes of it. */
  readonly headers: Readonly<Record<string, string>>
  /** Empty where there is none. */
  readonly etag: string
  readonly body: string | null
}
