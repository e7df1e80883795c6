import type { Runtime } from '../../test/support/child.ts'
import { programOf } from '../../test/support/child.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Lists } from '../lists/data.ts'
import { pinned, SERVER_CORE } from '../machine/pinned.ts'
import { RUNTIME_NAMES } from '../report/figure.ts'
import type { Workshop } from '../workshop.ts'
import type { Server } from './server.ts'
import { untilServing } from './server.ts'

/** Starts a runtime that gives every request the same answer, on the server's core: the minimum cost of a service. */
export async function startFloor(workshop: Workshop, runtime: Runtime, { lastId }: Lists): Promise<Server> {
  const port = await freePort()
  const app = `bench/servers/apps/floor-${runtime}.ts`
  const child = workshop.keep(pinned(SERVER_CORE, programOf(runtime), [app, String(port)]))
  return untilServing(`floor on ${RUNTIME_NAMES[runtime]}`, child, port, lastId)
}
