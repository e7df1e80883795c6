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

/**
 * nginx with deploy/nginx/marquee.conf, in which nothing is changed but where it listens and whom it asks, and that it
 * neither caches nor limits.
 */
export async function startFront(ports: readonly number[]): Promise<Front> {
  const conf = inSite(withInstances(nginxFile(), ports), 443)
    .replace('00 marquee;', '00 off;')
    .replaceAll(/rate=\d+r\/s/g, 'rate=100000r/s')
    .replace('marquee_connections 100;', 'marquee_connections 2000;')
  return start(conf, 'listen 127.0.0.1:443;')
}

/** nginx with a site that has deploy/nginx/marquee.conf as a location, by what the end of the file says. */
export async function startSite(ports: readonly number[]): Promise<Front> {
  const inner = await freePort()
  const [, lines = ''] = /^# (location \/api\/ \{\n(?:#.*\n)*)/m.exec(nginxFile()) ?? []
  const location = lines.replaceAll(/^# ?/gm, '').replace(':8079;', `:${inner};`)
  const site = `server { listen 443; location / { return 200 "the site"; } ${location} }`
  return start(`${site}\n${inSite(withInstances(nginxFile(), ports), inner)}`, 'listen 443;')
}

/** What the file says is to be changed for a site that is there. */
function inSite(conf: string, port: number): string {
  return conf
    .replace(/listen 443 ssl http2;[^]*?\n\n/, `listen 127.0.0.1:${port};\n`)
    .replace(/^server \{\n {2}listen 80;[^]*?^\}\n/m, '')
    .replace('/var/cache/nginx-marquee', join(mkdtempSync(join(tmpdir(), 'marquee-cache-')), 'cache'))
}

export function nginxFile(): string {
  return readFileSync(join(ROOT, 'deploy/nginx/marquee.conf'), 'utf8')
}

/** The file with these instances in the place of its two; the next one of the last is the first. */
export function withInstances(conf: string, ports: readonly number[]): string {
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  const share = (index: number): string => (index === ports.length - 1 ? '*' : `${(100 / ports.length).toFixed(2)}%`)
  const nextOf = (index: number): string => addresses[(index + 1) % addresses.length] ?? ''
  return conf
    .replace(/(?<=\$marquee_instance \{\n)[^}]*/, addresses.map((each, index) => `${share(index)} ${each};\n`).join(''))
    .replace(/(?<=\$marquee_next \{\n)[^}]*/, addresses.map((each, index) => `${each} ${nextOf(index)};\n`).join(''))
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
