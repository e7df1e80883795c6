import type { Runtime } from '../../test/support/child.ts'
import { programOf } from '../../test/support/child.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Lists } from '../lists/data.ts'
import { pinned, SERVER_CORE } from '../machine/pinned.ts'
import type { Workshop } from '../workshop.ts'
import type { Server } from './server.ts'
import { untilServing } from './server.ts'

/** The arguments that make a runtime answer the same bytes whatever it is asked: what no service on it can undercut. */
export function floorArguments(runtime: Runtime, port: number): string[] {
  return [`bench/servers/apps/floor-${runtime}.ts`, String(port)]
}

/** Starts it on the server's core. */
export async function startFloor(workshop: Workshop, runtime: Runtime, { lastId }: Lists): Promise<Server> {
  const port = await freePort()
  const child = workshop.keep(pinned(SERVER_CORE, programOf(runtime), floorArguments(runtime, port)))
  return untilServing(`the floor on ${runtime}`, child, port, lastId)
}
