import { Buffer } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { nginxFile, withInstances } from '../cluster/nginx.ts'
import { Child, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { accepts } from '../support/raw-client.ts'

export const HAS_NGINX: boolean = has('nginx')
export const HAS_VARNISH: boolean = has('varnishd')
export const HAS_VSTHROTTLE: boolean = succeeds('ls /usr/lib/*/varnish/vmods/libvmod_vsthrottle.so')

export interface Proxy {
  /** Without a slash at its end. */
  readonly origin: string
  /** The same without TLS, if it listens there, too. */
  readonly plain?: string
  /** What it has said of itself. */
  log(): string
  stop(): Promise<void>
}

/** Places of a file and what is put there. */
type Changes = readonly (readonly [from: string, to: string])[]

/** nginx with deploy/nginx/marquee.conf, in which nothing is changed but addresses, paths and what `changes` says. */
export async function startNginx(servicePorts: readonly number[], changes: Changes = []): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-nginx-'))
  const [port, plainPort] = [await freePort(), await freePort()]
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate]
  const made = spawnSync('openssl', [...args, ...subject])
  if (made.status !== 0) throw new Error('no certificate', { cause: made.stderr.toString() })
  const conf = changed(withInstances(nginxFile(), servicePorts), [
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    ['listen [::]:443 ssl http2;', ''],
    ['listen 80;', `listen 127.0.0.1:${plainPort};`],
    ['listen [::]:80;', ''],
    ['/etc/ssl/marquee/fullchain.pem', certificate],
    ['/etc/ssl/marquee/privkey.pem', key],
    ['/var/cache/nginx-marquee', join(folder, 'cache')],
    ...changes,
  ])
  writeFileSync(join(folder, 'marquee.conf'), conf)
  mkdirSync(join(folder, 'temporary'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/temporary/${kind};`)
    .join('\n')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user} daemon off; pid ${folder}/nginx.pid; error_log stderr warn; worker_processes 1;
events { worker_connections 2000; }
http { access_log off; ${temporary} include ${folder}/marquee.conf; }\n`,
  )
  const child = new Child('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], { cwd: folder })
  const proxy = await running('nginx', child, folder, port, 'https')
  return { ...proxy, plain: `http://127.0.0.1:${plainPort}` }
}

/**
 * Varnish with a file of deploy/varnish, in which nothing is changed but the backend's port and what `changes` says;
 * others are added as it says.
 */
export async function startVarnish(
  servicePorts: readonly number[],
  file = 'marquee.vcl',
  changes: Changes = [],
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-varnish-'))
  const port = await freePort()
  cpSync(join(ROOT, 'deploy/varnish'), folder, { recursive: true })
  writeFileSync(
    join(folder, 'marquee.vcl'),
    withBackends(readFileSync(join(ROOT, 'deploy/varnish/marquee.vcl'), 'utf8'), servicePorts),
  )
  writeFileSync(join(folder, file), changed(readFileSync(join(folder, file), 'utf8'), changes))
  const store = ['-s', 'malloc,64m', '-s', 'Transient=malloc,64m']
  const where = ['-a', `127.0.0.1:${port}`, '-n', join(folder, 'work'), '-T', 'none', '-j', 'none']
  const child = new Child('varnishd', ['-F', '-f', join(folder, file), ...where, ...store], { cwd: folder })
  return running('varnish', child, folder, port, 'http')
}

function withBackends(text: string, ports: readonly number[]): string {
  const [backend = ''] = /^backend default \{[^}]*\}\n/m.exec(text) ?? []
  const added = text.match(/^ *\w+\.add_backend\(default.*\);\n/gm) ?? []
  const named = (shown: string, port: number, index: number): string =>
    shown.replace('default', index === 0 ? 'default' : `marquee_${index}`).replace('"8080"', `"${port}"`)
  const all = (shown: string): string => ports.map((port, index) => named(shown, port, index)).join('')
  return added.reduce((file, line) => file.replace(line, all(line)), text.replace(backend, all(backend)))
}

async function running(name: string, child: Child, folder: string, port: number, scheme: string): Promise<Proxy> {
  const ended = child.exited.then((status) => {
    throw new Error(`${name} ended with ${status}: ${child.stderr}${child.stdout}`)
  })
  const accepting = eventually(
    () => accepts(port),
    (accepted) => accepted,
  )
  await Promise.race([accepting, ended])
  ended.catch(() => {})
  return {
    origin: `${scheme}://127.0.0.1:${port}`,
    log: () => child.stderr,
    async stop() {
      await child.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Sends exactly these bytes, be it through TLS, and resolves with all that comes back. */
export function exchangeWith(origin: string, request: string): Promise<Buffer> {
  const { protocol, port } = new URL(origin)
  const where = { host: '127.0.0.1', port: Number(port) }
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const received: Buffer[] = []
  const socket = protocol === 'https:' ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where)
  socket.on('error', reject)
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.on('close', () => resolve(Buffer.concat(received)))
  socket.write(Buffer.from(request, 'latin1'))
  return promise
}

/** nginx before 1.23 sees the first line of a header alone, and hands on no other. */
export function nginxJoinsLines(): boolean {
  const [, minor = '0'] = /nginx\/1\.(\d+)/.exec(spawnSync('sh', ['-c', 'nginx -v']).stderr?.toString() ?? '') ?? []
  return Number(minor) >= 23
}

/** The text of a file with these places changed; throws where one is not there. */
function changed(file: string, changes: Changes): string {
  let text = file
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`the file does not hold ${from}`)
    text = text.replaceAll(from, to)
  }
  return text
}

function has(program: string): boolean {
  return succeeds(`command -v ${program}`)
}

function succeeds(command: string): boolean {
  return spawnSync('sh', ['-c', command]).status === 0
}
