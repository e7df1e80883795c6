/** An answer of the stand-in, before faults have their say. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function json(body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; odata.metadata=minimal', 'odata-version': '4.0', ...headers },
    body: JSON.stringify(body),
  }
}

export function refusal(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { ...json({ error: { code, message } }, headers), status }
}
