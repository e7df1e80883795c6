import { ACCEPTS } from './load.ts'
import type { Server } from './servers.ts'

const SAMPLES = 50

/** Asks for some ids in every format: a server that is fast and wrong must not win. Throws where an answer is wrong. */
export async function checkAnswers({ name, port }: Server, ids: readonly string[]): Promise<void> {
  if (name.startsWith('floor')) return
  for (let sample = 0; sample < SAMPLES; sample++) {
    const id = ids[(sample * 7919) % ids.length] ?? ''
    const accept = ACCEPTS[sample % ACCEPTS.length] ?? ''
    const response = await fetch(`http://127.0.0.1:${port}/api/events/${id}`, { headers: { accept } })
    const body = await response.text()
    const isXml = accept.includes('xml')
    const type = response.headers.get('content-type') ?? ''
    if (response.status !== 200 || !body.includes(id) || isXml !== type.includes('xml')) {
      throw new Error(`${name} answered ${id} (${accept}) with ${response.status} ${type}: ${body.slice(0, 200)}`)
    }
  }
  const unknown = await fetch(`http://127.0.0.1:${port}/api/events/${(ids[0] ?? '').slice(0, 24)}ffffffffffff`)
  if (unknown.status !== 404) throw new Error(`${name} answered an unknown id with ${unknown.status}`)
}
