import type { Runtime } from '../../test/support/child.ts'
import { programOf } from '../../test/support/child.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Lists } from '../lists/data.ts'
import { pinned, SERVER_CORE } from '../machine/pinned.ts'
import { RUNTIME_NAMES } from '../report/figure.ts'
import type { Workshop } from '../workshop.ts'
import type { Server } from './server.ts'
import { untilServing } from './server.ts'

/** Starts a runtime that answers the same bytes whatever it is asked, on the server's core: what no service on it can undercut. */
export async function startFloor(workshop: Workshop, runtime: Runtime, { lastId }: Lists): Promise<Server> {
  const port = await freePort()
  const app = `bench/servers/apps/floor-${runtime}.ts`
  const child = workshop.keep(pinned(SERVER_CORE, programOf(runtime), [app, String(port)]))
  return untilServing(`floor on ${RUNTIME_NAMES[runtime]}`, child, port, lastId)
}
