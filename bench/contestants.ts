import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, programOf, type Runtime } from '../test/support/child.ts'
import { freePort } from '../test/support/free-port.ts'
import type { Lists } from './lists.ts'
import { ACCEPTS, eventUrl, unknown, untilAnswered } from './load.ts'
import { pinned, RUNTIME_NAMES, SERVER_CORE, toolOf } from './machine.ts'
import type { SENDING } from './nginx.ts'
import { BODIES, nginxArguments, writeBodies } from './nginx.ts'
import { varnishArguments, warmVarnish } from './varnish.ts'
import type { Workshop } from './workshop.ts'

/** A server that answers. */
export interface Server {
  readonly name: string
  readonly child: Child
  readonly pid: number
  readonly port: number
  /** From the start of the process until it answered for the last event, in ms. */
  readonly startMs: number
}

type Arguments = (port: number) => readonly string[]

/** The number of answers of a server that are checked before it is measured. */
const SAMPLES = 50

/** Starts a program on the server's core; resolves once it answers for the last event. */
async function start(
  workshop: Workshop,
  name: string,
  program: string,
  args: Arguments,
  lastId: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort()
  const fromMs = performance.now()
  const child = workshop.keep(pinned(SERVER_CORE, program, args(port), env))
  await untilAnswered(child, port, lastId)
  return { name, child, pid: child.pid, port, startMs: performance.now() - fromMs }
}

/** Starts a runtime that gives every request the same thousand bytes: the least that a service can cost. */
export function startFloor(workshop: Workshop, runtime: Runtime, { lastId }: Lists): Promise<Server> {
  const args = (port: number): readonly string[] => [`bench/apps/floor-${runtime}.ts`, String(port)]
  return start(workshop, `constant bytes on ${RUNTIME_NAMES[runtime]}`, programOf(runtime), args, lastId)
}

/** Starts Marquee with this configuration, beside what all runs have. */
export function startMarquee(
  workshop: Workshop,
  runtime: Runtime,
  lastId: string,
  keys: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const file = join(workshop.folder(), 'marquee.yaml')
  const args = (port: number): readonly string[] => {
    const common = { listen: { port }, operations: null, snapshot: null, lists: 'on' }
    writeFileSync(file, JSON.stringify({ ...common, ...keys }))
    return ['src/main.ts', 'serve', '--config', file]
  }
  return start(workshop, `Marquee on ${RUNTIME_NAMES[runtime]}`, programOf(runtime), args, lastId, env)
}

/** Starts a small service of each framework that renders its answers. */
export async function startFrameworks(workshop: Workshop, lists: Lists): Promise<readonly Server[]> {
  const app = (name: string, runtime: Runtime): Promise<Server> => {
    const args: Arguments = (port) => [`bench/apps/${name.toLowerCase()}.ts`, lists.eventsFile, String(port)]
    return start(workshop, `${name} on ${RUNTIME_NAMES[runtime]}`, programOf(runtime), args, lists.lastId)
  }
  return [await app('Hono', 'bun'), await app('Fastify', 'node')]
}

/** Starts nginx with a running Marquee's bodies as files, twice, and a Varnish that has all of them in its cache. */
export async function startStores(workshop: Workshop, lists: Lists, original: Server): Promise<readonly Server[]> {
  const home = workshop.folder()
  // Varnish drops root's privileges and must still be able to enter.
  chmodSync(home, 0o755)
  const bodies = join(home, 'bodies')
  const events = lists.ids.length
  await writeBodies(bodies, lists.ids, original.port)
  const servers: Server[] = []
  for (const sending of ['sendfile off', 'sendfile on'] as const satisfies (keyof typeof SENDING)[]) {
    const folder = join(home, sending.replace(' ', '-'))
    mkdirSync(folder)
    const args: Arguments = (port) => nginxArguments(folder, bodies, events * BODIES.length, sending, port)
    servers.push(await start(workshop, `nginx, ${sending}`, toolOf('nginx'), args, lists.lastId))
  }
  const backend = servers[0]?.port ?? 0
  const args: Arguments = (port) => varnishArguments(home, port, backend, events)
  const varnish = await start(workshop, 'Varnish', toolOf('varnishd', 'varnish'), args, lists.lastId)
  await warmVarnish(varnish.port, lists.ids)
  return [...servers, varnish]
}

/** Checks some answers in every format, since a fast but wrong server must not win. Throws if an answer is wrong. */
export async function checkAnswers({ name, port }: Server, ids: readonly string[]): Promise<void> {
  for (let sample = 0; sample < SAMPLES; sample++) {
    const id = ids[(sample * 7919) % ids.length] ?? ''
    const accept = ACCEPTS[sample % ACCEPTS.length] ?? ''
    const response = await fetch(eventUrl(port, id), { headers: { accept } })
    const body = await response.text()
    const type = response.headers.get('content-type') ?? ''
    if (response.status !== 200 || !body.includes(id) || accept.includes('xml') !== type.includes('xml')) {
      throw new Error(`${name} answered ${id} (${accept}) with ${response.status} ${type}: ${body.slice(0, 200)}`)
    }
  }
  const { status } = await fetch(eventUrl(port, unknown(ids[0] ?? '')))
  if (status !== 404) throw new Error(`${name} answered an unknown id with ${status}`)
}
