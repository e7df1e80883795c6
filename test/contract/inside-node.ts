// Runs on Node: holds services without listeners, and queries them for the test process.
import { type Inside, openInside } from './in-process.ts'
import type { Ask } from './subject.ts'

/** A request to Node. `service` is a number chosen by the test process. */
export type Order = { readonly number: number; readonly service: number } & (
  | { readonly kind: 'open'; readonly configuration: string }
  | { readonly kind: 'ask'; readonly target: string; readonly ask: Ask }
  | { readonly kind: 'stop' }
)

export interface Done {
  readonly number: number
  /** The response in base64; empty if there was no request. */
  readonly response: string
  readonly failure: string | null
}

const services = new Map<number, Inside>()

async function carryOut(order: Order): Promise<string> {
  if (order.kind === 'open') {
    services.set(order.service, await openInside(order.configuration))
    return ''
  }
  const inside = services.get(order.service)
  if (inside === undefined) throw new Error(`there is no service ${order.service}`)
  if (order.kind === 'ask') return (await inside.ask(order.target, order.ask)).toString('base64')
  await inside.stop()
  services.delete(order.service)
  return ''
}

process.on('message', (order: Order) => {
  const { number } = order
  void carryOut(order).then(
    (response) => process.send?.({ number, response, failure: null } satisfies Done),
    (cause: unknown) => process.send?.({ number, response: '', failure: String(cause) } satisfies Done),
  )
})
process.on('disconnect', () => process.exit(0))
