import { ACCEPTS, unknown } from '../load/callers.ts'
import type { Server } from './server.ts'
import { eventUrl } from './server.ts'

const SAMPLES = 50

/** Checks some answers in every format, since a fast but wrong server must not win. Throws if an answer is wrong. */
export async function checkAnswers({ name, port }: Server, ids: readonly string[]): Promise<void> {
  for (let sample = 0; sample < SAMPLES; sample++) {
    const id = ids[(sample * 7919) % ids.length] ?? ''
    const accept = ACCEPTS[sample % ACCEPTS.length] ?? ''
    const response = await fetch(eventUrl(port, id), { headers: { accept } })
    const body = await response.text()
    const isXml = accept.includes('xml')
    const type = response.headers.get('content-type') ?? ''
    if (response.status !== 200 || !body.includes(id) || isXml !== type.includes('xml')) {
      throw new Error(`${name} answered ${id} (${accept}) with ${response.status} ${type}: ${body.slice(0, 200)}`)
    }
  }
  const { status } = await fetch(eventUrl(port, unknown(ids[0] ?? '')))
  if (status !== 404) throw new Error(`${name} answered an unknown id with ${status}`)
}
