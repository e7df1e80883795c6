import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../../test/support/child.ts'
import { programOf } from '../../test/support/child.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Lists } from '../lists/data.ts'
import { pinned, SERVER_CORE } from '../machine/pinned.ts'
import { RUNTIME_NAMES } from '../report/figure.ts'
import type { Workshop } from '../workshop.ts'
import type { Server } from './server.ts'
import { untilServing } from './server.ts'

/** The least that `limits.readyBodies` takes: memory without bodies that are ready to send. */
export const HARDLY_ANY_BODIES = '1MB'

export interface Freshness {
  readonly bound?: string
  readonly refreshEvery?: string
}

/** The program for each runtime. */
export const SOURCE: readonly string[] = ['src/main.ts']

/** The arguments for a runtime to serve the lists in a directory. */
function marqueeArguments(...of: Parameters<typeof serveArguments>): string[] {
  return [...SOURCE, ...serveArguments(...of)]
}

/** Marquee's own arguments. */
export function serveArguments(
  workshop: Workshop,
  port: number,
  directory: string,
  freshness: Freshness = {},
  readyBodies = 'auto',
): string[] {
  const file = join(workshop.folder(), 'marquee.yaml')
  const crm = { kind: 'files', directory }
  writeFileSync(
    file,
    JSON.stringify({ listen: { port }, operations: null, snapshot: null, freshness, limits: { readyBodies }, crm }),
  )
  return ['serve', '--config', file]
}

/** Starts Marquee on the server's core; resolves once it answers for the last event. */
export async function startMarquee(
  workshop: Workshop,
  runtime: Runtime,
  { directory, lastId }: Lists,
  freshness: Freshness = {},
  readyBodies = 'auto',
): Promise<Server> {
  const port = await freePort()
  const args = marqueeArguments(workshop, port, directory, freshness, readyBodies)
  const child = workshop.keep(pinned(SERVER_CORE, programOf(runtime), args))
  return untilServing(`Marquee on ${RUNTIME_NAMES[runtime]}`, child, port, lastId)
}
