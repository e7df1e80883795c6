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

export interface Freshness {
  readonly bound?: string
  readonly refreshEvery?: string
}

/** The program for each runtime. */
export const SOURCE: readonly string[] = ['src/main.ts']

/** The arguments for a runtime to serve the lists in a directory. */
function marqueeArguments(workshop: Workshop, port: number, directory: string, freshness: Freshness = {}): string[] {
  return [...SOURCE, ...serveArguments(workshop, port, directory, freshness)]
}

/** Marquee's own arguments. */
export function serveArguments(
  workshop: Workshop,
  port: number,
  directory: string,
  freshness: Freshness = {},
): string[] {
  const file = join(workshop.folder(), 'marquee.yaml')
  const crm = { kind: 'files', directory }
  writeFileSync(file, JSON.stringify({ listen: { port }, operations: null, snapshot: null, freshness, crm }))
  return ['serve', '--config', file]
}

/** Starts Marquee on the server's core; resolves once it answers for the last event. */
export async function startMarquee(
  workshop: Workshop,
  runtime: Runtime,
  { directory, lastId }: Lists,
  freshness: Freshness = {},
): Promise<Server> {
  const port = await freePort()
  const args = marqueeArguments(workshop, port, directory, freshness)
  const child = workshop.keep(pinned(SERVER_CORE, programOf(runtime), args))
  return untilServing(`Marquee on ${RUNTIME_NAMES[runtime]}`, child, port, lastId)
}
