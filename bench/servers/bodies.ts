import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventUrl } from './server.ts'

const FILES = [
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['haljson', 'application/hal+json'],
  ['halxml', 'application/hal+xml'],
] as const

/** Asks a running Marquee for every body and writes each to a file, for nginx to serve the very same bytes. */
export async function writeBodies(bodies: string, ids: readonly string[], port: number): Promise<void> {
  for (const id of ids) {
    const folder = join(bodies, id.slice(0, 2))
    mkdirSync(folder, { recursive: true })
    await Promise.all(
      FILES.map(async ([extension, accept]) => {
        const response = await fetch(eventUrl(port, id), { headers: { accept } })
        if (response.status !== 200) throw new Error(`${id} was answered with ${response.status}`)
        writeFileSync(join(folder, `${id}.${extension}`), await response.bytes())
      }),
    )
  }
}
