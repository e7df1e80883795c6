// What a developer might do with docs/examples/marquee-client.ts, told as one line of JSON: on Bun, on Node, and in a
// browser.
import { MarqueeClient, MarqueeError } from '../../docs/examples/marquee-client.ts'

export interface Told {
  readonly name: string | null
  readonly start: string
  readonly price: number
  readonly digits: string
  readonly venue: string | null
  readonly missing: null
  readonly refused: readonly [number, string]
  readonly on: number
  readonly first: string
  readonly venues: number
}

export async function useClient(address: string): Promise<Told> {
  const marquee = new MarqueeClient(address)
  const id = '7e016ac6-5cee-4fd6-be12-faa34a6761ef'
  const event = await marquee.event(id)
  if (event === null) throw new Error('there is no event')
  const exact = await new MarqueeClient(address, { decimals: 'text' }).event(id)
  const venue = await marquee.venueOf(event)
  const missing = await marquee.event('00000000-0000-4000-8000-000000000000')
  if (missing !== null) throw new Error('there is an event that is not')
  const refusal = await marquee.event('42').catch((error: unknown) => error)
  if (!(refusal instanceof MarqueeError)) throw new Error('a bad id was not refused', { cause: refusal })
  const on: string[] = []
  for await (const { Start } of marquee.whatsOn({ from: '2036-01-01', tag: ['music', 'Folk'], available: true })) {
    on.push(Start)
  }
  let venues = 0
  for await (const { Id } of marquee.venues()) if (Id !== '') venues++
  return {
    name: event.Name,
    start: event.Start,
    price: event.Price,
    digits: exact?.Price ?? '',
    venue: venue?.Name ?? null,
    missing,
    refused: [refusal.status, refusal.problem?.detail ?? ''],
    on: on.length,
    first: on[0] ?? '',
    venues,
  }
}
