import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { programOf } from '../../test/support/child.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Lists } from '../lists/data.ts'
import { findTool } from '../machine/find-tool.ts'
import { pinned, SERVER_CORE } from '../machine/pinned.ts'
import type { Workshop } from '../workshop.ts'
import { writeBodies } from './bodies.ts'
import { floorArguments } from './floor.ts'
import { marqueeArguments } from './marquee.ts'
import { nginxArguments } from './nginx.ts'
import type { Server } from './server.ts'
import { untilServing } from './server.ts'
import { varnishArguments } from './varnish.ts'

/** The servers that are compared, as they are named in the tables. */
export const NAMES = {
  floor: { bun: 'floor on Bun', node: 'floor on Node' },
  marquee: { bun: 'Marquee on Bun', node: 'Marquee on Node' },
  framework: { bun: 'Hono on Bun', node: 'Fastify on Node' },
  nginx: 'nginx, files',
  varnish: 'Varnish',
} as const

export interface Contestants {
  readonly servers: readonly Server[]
  /** Where Varnish keeps what it counts. */
  readonly home: string
}

/** Starts all that is installed here, each on the server's core: only one of them is loaded at a time. */
export async function startContestants(workshop: Workshop, lists: Lists): Promise<Contestants> {
  const home = workshop.folder()
  // Varnish gives up root's rights, and must still come in.
  chmodSync(home, 0o755)
  const servers: Server[] = []
  const start = async (name: string, program: string, args: (port: number) => readonly string[]): Promise<Server> => {
    const port = await freePort()
    const child = workshop.keep(pinned(SERVER_CORE, program, args(port)))
    const server = await untilServing(name, child, port, lists.lastId)
    servers.push(server)
    return server
  }
  const [bun, node] = [programOf('bun'), programOf('node')]
  const marquee = (port: number): string[] => marqueeArguments(workshop, port, lists.directory)
  const app = (file: string) => (port: number) => [`bench/servers/apps/${file}`, lists.eventsFile, String(port)]

  await start(NAMES.floor.bun, bun, (port) => floorArguments('bun', port))
  const original = await start(NAMES.marquee.bun, bun, marquee)
  await start(NAMES.floor.node, node, (port) => floorArguments('node', port))
  await start(NAMES.marquee.node, node, marquee)
  const nginx = findTool('nginx')
  const varnish = findTool('varnishd')
  if (nginx === null) {
    workshop.leftOut.add('nginx and Varnish in front of it: nginx is not installed')
  } else {
    const bodies = join(home, 'bodies')
    await writeBodies(bodies, lists.ids, original.port)
    const files = await start(NAMES.nginx, nginx, (port) => nginxArguments(join(home, 'nginx'), bodies, port))
    if (varnish === null) workshop.leftOut.add('Varnish: it is not installed')
    else await start(NAMES.varnish, varnish, (port) => varnishArguments(home, port, files.port))
  }
  await start(NAMES.framework.bun, bun, app('hono.ts'))
  await start(NAMES.framework.node, node, app('fastify.ts'))
  return { servers, home }
}
