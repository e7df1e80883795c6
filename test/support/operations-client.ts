export interface OperationsReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Sends a request to an operations listener. Returns `null` if there is no answer. */
export async function askOperations(url: string, init: RequestInit = {}): Promise<OperationsReply | null> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual' })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch {
    return null
  }
}

/** Returns the value of one sample in Prometheus' text format; `null` if it is absent. */
export function sampleOf(metrics: string, sample: string): number | null {
  const line = metrics.split('\n').find((text) => text.startsWith(`${sample} `))
  return line === undefined ? null : Number(line.slice(sample.length + 1))
}
