import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MEDIA_TYPES, shapeOf, SHAPES } from '../../src/formats/media-types.ts'
import { CONNECTIONS } from '../load/callers.ts'
import { eventUrl } from './server.ts'

/** The four shapes: the file extension, and the Accept header that selects it. */
export const BODIES: readonly (readonly [ending: string, accept: string])[] = SHAPES.map((shape) => [
  shape.replace('-', ''),
  MEDIA_TYPES.find((type) => shapeOf[type] === shape) ?? shape,
])

/**
 * Requests every body from a running Marquee and writes each to `api/events/ID.SHAPE`, for nginx to serve the same
 * bytes.
 */
export async function writeBodies(bodies: string, ids: readonly string[], port: number): Promise<void> {
  const folder = join(bodies, 'api/events')
  mkdirSync(folder, { recursive: true })
  await eachAtOnce(ids, async (id) => {
    for (const [shape, accept] of BODIES) {
      const response = await fetch(eventUrl(port, id), { headers: { accept } })
      if (response.status !== 200) throw new Error(`${id} was answered with ${response.status}`)
      writeFileSync(join(folder, `${id}.${shape}`), await response.bytes())
    }
  })
}

/** Runs `work` for each id, with as many at once as there are connections. */
export async function eachAtOnce(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  let next = 0
  const one = async (): Promise<void> => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) await work(id)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
}
