import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONNECTIONS } from '../load/callers.ts'
import { eventUrl } from './server.ts'

/** The four shapes: the ending of the file, and what asks for it. */
export const SHAPES = [
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['haljson', 'application/hal+json'],
  ['halxml', 'application/hal+xml'],
] as const

/** Asks a running Marquee for every body and writes each to `api/events/ID.SHAPE`, for nginx to serve the very same bytes. */
export async function writeBodies(bodies: string, ids: readonly string[], port: number): Promise<void> {
  const folder = join(bodies, 'api/events')
  mkdirSync(folder, { recursive: true })
  await eachAtOnce(ids, async (id) => {
    for (const [shape, accept] of SHAPES) {
      const response = await fetch(eventUrl(port, id), { headers: { accept } })
      if (response.status !== 200) throw new Error(`${id} was answered with ${response.status}`)
      writeFileSync(join(folder, `${id}.${shape}`), await response.bytes())
    }
  })
}

/** Does `work` for each id, for as many at once as there are connections. */
export async function eachAtOnce(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  let next = 0
  const one = async (): Promise<void> => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) await work(id)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
}
