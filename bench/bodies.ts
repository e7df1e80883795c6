import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILES = [
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['hal.json', 'application/hal+json'],
  ['hal.xml', 'application/hal+xml'],
] as const

/** Asks a running Marquee for every body and writes each to a file, for nginx to serve the very same bytes. */
export async function writeBodies(directory: string, ids: readonly string[], port: number): Promise<void> {
  for (const id of ids) {
    const folder = join(directory, 'bodies', id.slice(0, 2))
    mkdirSync(folder, { recursive: true })
    await Promise.all(
      FILES.map(async ([extension, accept]) => {
        const response = await fetch(`http://127.0.0.1:${port}/api/events/${id}`, { headers: { accept } })
        if (response.status !== 200) throw new Error(`${id} was answered with ${response.status}`)
        writeFileSync(join(folder, `${id}.${extension}`), await response.bytes())
      }),
    )
  }
}
