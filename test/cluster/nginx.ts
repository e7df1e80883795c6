import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { Child, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { installedProgram } from '../support/installed-program.ts'
import { accepts } from '../support/raw-client.ts'

export const HAS_NGINX: boolean = installedProgram('nginx') !== null

export interface Front {
  /** With a slash at its end. */
  readonly address: string
  /** Without one. */
  readonly origin: string
  /** What nginx has said of itself. */
  log(): string
  stop(): Promise<void>
}

/** Says which of the instances gave an answer: all that were asked, the one that answered last. */
export const ANSWERED_BY = 'x-answered-by'

/** nginx with deploy/nginx/instances.conf, in which nothing is changed but where it listens and whom it asks. */
export async function startFront(ports: readonly number[]): Promise<Front> {
  // The second list of instances begins with the second one.
  const lists = [ports, [...ports.slice(1), ...ports.slice(0, 1)]]
  const conf = readFileSync(join(ROOT, 'deploy/nginx/instances.conf'), 'utf8').replaceAll(
    /( *server marquee-\d+:8080(.*;\n))+/g,
    (_all, _one, how: string) => (lists.shift() ?? []).map((each) => `  server 127.0.0.1:${each}${how}`).join(''),
  )
  return start(conf, 'listen 80;')
}

/**
 * nginx as deploy/kubernetes/marquee.yaml configures it, in which nothing is changed but where it listens, and that the
 * Service is at another address.
 */
export async function startKubernetesFront(ports: readonly number[]): Promise<Front> {
  const service = await startService(ports)
  const manifests = parseAllDocuments(readFileSync(join(ROOT, 'deploy/kubernetes/marquee.yaml'), 'utf8'))
  const confs = manifests.flatMap((manifest): unknown => manifest.getIn(['data', 'default.conf']) ?? [])
  const conf = String(confs[0]).replaceAll('server marquee:80 ', `server 127.0.0.1:${service.port} `)
  const front = await start(conf, 'listen 8080;')
  return {
    ...front,
    async stop() {
      await front.stop()
      service.close()
    },
  }
}

/** A Service of Kubernetes: each connection to its address reaches the next instance, also one that just ended. */
async function startService(ports: readonly number[]): Promise<{ readonly port: number; close(): void }> {
  const open = new Set<Socket>()
  let connections = 0
  const server = createServer((caller) => {
    const instance = connect(ports[connections++ % ports.length] ?? 0, '127.0.0.1')
    for (const [from, to] of [
      [caller, instance],
      [instance, caller],
    ] as const) {
      open.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.end()
      })
    }
  })
  await once(server.listen(await freePort(), '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

/** @param listens The line of `given` that says where it listens. */
async function start(given: string, listens: string): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-front-'))
  const port = await freePort()
  const conf = given.replace(listens, `listen 127.0.0.1:${port};`)
  mkdirSync(join(folder, 'temporary'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/temporary/${kind};`)
    .join('\n')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user} daemon off; pid ${folder}/nginx.pid; error_log stderr warn; worker_processes 1;
events { worker_connections 2000; }
http { access_log off; add_header ${ANSWERED_BY} $upstream_addr always; ${temporary} ${conf} }\n`,
  )
  const child = new Child('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], { cwd: folder })
  await eventually(
    () => accepts(port),
    (accepted) => accepted,
  )
  return {
    address: `http://127.0.0.1:${port}/`,
    origin: `http://127.0.0.1:${port}`,
    log: () => child.stderr,
    async stop() {
      await child.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
