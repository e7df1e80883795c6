import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { programOf } from '../../test/support/child.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Lists } from '../lists/data.ts'
import { findTool } from '../machine/find-tool.ts'
import { pinned, SERVER_CORE } from '../machine/pinned.ts'
import type { Workshop } from '../workshop.ts'
import { writeBodies } from './bodies.ts'
import { checkAnswers } from './check-answers.ts'
import { startFloor } from './floor.ts'
import { startMarquee } from './marquee.ts'
import type { SENDING } from './nginx.ts'
import { nginxArguments } from './nginx.ts'
import type { Server } from './server.ts'
import { untilServing } from './server.ts'
import { varnishArguments, warmVarnish } from './varnish.ts'

/** The names of the compared servers in the tables. */
export const NAMES = {
  floor: { bun: 'floor on Bun', node: 'floor on Node' },
  marquee: { bun: 'Marquee on Bun', node: 'Marquee on Node' },
  framework: { bun: 'Hono on Bun', node: 'Fastify on Node' },
  nginx: { copied: 'nginx, sendfile off', sendfile: 'nginx, sendfile on' },
  varnish: 'Varnish',
} as const

/** Starts both runtimes with constant answers. */
export async function startFloors(workshop: Workshop, lists: Lists): Promise<readonly Server[]> {
  return [await startFloor(workshop, 'bun', lists), await startFloor(workshop, 'node', lists)]
}

export async function startMarquees(workshop: Workshop, lists: Lists): Promise<readonly [Server, Server]> {
  const servers = [await startMarquee(workshop, 'bun', lists), await startMarquee(workshop, 'node', lists)] as const
  for (const server of servers) await checkAnswers(server, lists.ids)
  return servers
}

/** Starts a small service of each framework that renders its answers. */
export async function startFrameworks(workshop: Workshop, lists: Lists): Promise<readonly Server[]> {
  const app = (file: string) => (port: number) => [`bench/servers/apps/${file}`, lists.eventsFile, String(port)]
  const { bun, node } = NAMES.framework
  return [
    await start(workshop, lists, bun, programOf('bun'), app('hono.ts')),
    await start(workshop, lists, node, programOf('node'), app('fastify.ts')),
  ]
}

export interface Stores {
  readonly servers: readonly Server[]
  /** The directory of Varnish's counters; `null` without Varnish. */
  readonly home: string | null
}

/**
 * Starts nginx with a running Marquee's bodies as files, and a Varnish that caches all of them, if they are installed.
 */
export async function startStores(workshop: Workshop, lists: Lists, original: Server): Promise<Stores> {
  const nginx = findTool('nginx')
  if (nginx === null) {
    workshop.leftOut.add('nginx, and Varnish in front of it: nginx is not installed')
    return { servers: [], home: null }
  }
  const home = workshop.folderInMemory()
  // Varnish drops root's privileges and must still be able to enter.
  chmodSync(home, 0o755)
  const bodies = join(home, 'bodies')
  const events = lists.ids.length
  await writeBodies(bodies, lists.ids, original.port)
  const files = (sending: keyof typeof SENDING): Promise<Server> =>
    start(workshop, lists, NAMES.nginx[sending], nginx, (port) =>
      nginxArguments(join(home, sending), bodies, events, sending, port),
    )
  const [copied, sendfile] = [await files('copied'), await files('sendfile')]
  const varnishd = findTool('varnishd')
  if (varnishd === null) {
    workshop.leftOut.add('Varnish: it is not installed')
    return { servers: [copied, sendfile], home: null }
  }
  const args = (port: number): string[] => varnishArguments(home, port, copied.port, events)
  const varnish = await start(workshop, lists, NAMES.varnish, varnishd, args)
  await warmVarnish(varnish.port, lists.ids)
  return { servers: [copied, sendfile, varnish], home }
}

/** Starts a program on the server's core (only one is loaded at a time), and checks its answers. */
async function start(
  workshop: Workshop,
  lists: Lists,
  name: string,
  program: string,
  args: (port: number) => readonly string[],
): Promise<Server> {
  const port = await freePort()
  const child = workshop.keep(pinned(SERVER_CORE, program, args(port)))
  const server = await untilServing(name, child, port, lists.lastId)
  await checkAnswers(server, lists.ids)
  return server
}
