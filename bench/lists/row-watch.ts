import { eventUrl } from '../servers/server.ts'

const AGAIN_MS = 20

/** The tickets that an event is served with: what the list's writer changes. */
export async function ticketsOf(port: number, id: string): Promise<number> {
  const response = await fetch(eventUrl(port, id))
  const { TicketsAvailable } = (await response.json()) as { readonly TicketsAvailable?: number }
  return TicketsAvailable ?? Number.NaN
}

/** Resolves when an event is served with other tickets, with when that was seen; throws after so many seconds. */
export async function untilChanged(port: number, id: string, before: number, withinSeconds: number): Promise<number> {
  const untilMs = performance.now() + withinSeconds * 1000
  while (performance.now() < untilMs) {
    const tickets = await ticketsOf(port, id)
    if (tickets !== before && !Number.isNaN(tickets)) return performance.now()
    await Bun.sleep(AGAIN_MS)
  }
  throw new Error(`a change of ${id} was not served within ${withinSeconds} s`)
}
