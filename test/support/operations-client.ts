export interface OperationsReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Asks an operations listener; null where nobody answers. */
export async function askOperations(url: string, init: RequestInit = {}): Promise<OperationsReply | null> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual' })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch {
    return null
  }
}

/** The value of one sample in Prometheus' text format, null where it is absent. */
export function sampleOf(metrics: string, sample: string): number | null {
  const line = metrics.split('\n').find((text) => text.startsWith(`${sample} `))
  return line === undefined ? null : Number(line.slice(sample.length + 1))
}
