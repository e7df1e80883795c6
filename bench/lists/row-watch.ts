import { eventUrl } from '../servers/server.ts'

const AGAIN_MS = 20

/** The tickets with which an event is served; the list writer changes them. */
export async function ticketsOf(port: number, id: string): Promise<number> {
  const response = await fetch(eventUrl(port, id))
  const { TicketsAvailable } = (await response.json()) as { readonly TicketsAvailable?: number }
  return TicketsAvailable ?? Number.NaN
}

/** Resolves to the time at which an event is served with other tickets; throws after this many seconds. */
export async function untilChanged(port: number, id: string, before: number, withinSeconds: number): Promise<number> {
  const untilMs = performance.now() + withinSeconds * 1000
  while (performance.now() < untilMs) {
    const tickets = await ticketsOf(port, id)
    if (tickets !== before && !Number.isNaN(tickets)) return performance.now()
    await Bun.sleep(AGAIN_MS)
  }
  throw new Error(`a change of ${id} was not served within ${withinSeconds} s`)
}
