import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Server {
  readonly name: string
  readonly process: ChildProcess
  readonly pid: number
  readonly port: number
}

export interface Setting {
  readonly directory: string
  readonly ids: readonly string[]
  /** The core the server is pinned to. */
  readonly core: number
}

type Start = (setting: Setting, port: number) => readonly string[] | null

const BUN = 'node_modules/.bin/bun'
const NODE = 'node_modules/.bin/node'

/** The servers that are compared; null where one is not installed here. */
export const SERVERS: ReadonlyMap<string, Start> = new Map<string, Start>([
  ['floor on Bun', (_, port) => [BUN, 'bench/apps/floor-bun.ts', String(port)]],
  ['Marquee on Bun', (setting, port) => [BUN, 'src/main.ts', 'serve', '--config', marqueeConfig(setting, port)]],
  ['floor on Node', (_, port) => [NODE, 'bench/apps/floor-node.ts', String(port)]],
  ['Marquee on Node', (setting, port) => [NODE, 'src/main.ts', 'serve', '--config', marqueeConfig(setting, port)]],
  ['nginx, files', nginx],
  ['Varnish', varnish],
  ['Hono on Bun', ({ directory }, port) => [BUN, 'bench/apps/hono.ts', join(directory, 'events.ndjson'), String(port)]],
  [
    'Fastify on Node',
    ({ directory }, port) => [NODE, 'bench/apps/fastify.ts', join(directory, 'events.ndjson'), String(port)],
  ],
])

/** Starts a server pinned to its core and waits until it answers for the last id. */
export async function startServer(name: string, setting: Setting, port: number): Promise<Server | null> {
  const command = SERVERS.get(name)?.(setting, port) ?? null
  if (command === null) return null
  const child = spawn('taskset', ['-c', String(setting.core), ...command], { stdio: ['ignore', 'ignore', 'inherit'] })
  const path = `/api/events/${setting.ids.at(-1) ?? ''}`
  const until = Date.now() + 120_000
  while (Date.now() < until) {
    const status = await fetch(`http://127.0.0.1:${port}${path}`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return { name, process: child, pid: child.pid ?? 0, port }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  child.kill('SIGKILL')
  throw new Error(`${name} did not answer ${path}`)
}

export async function stopServer({ process: child }: Server): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

function marqueeConfig({ directory }: Setting, port: number): string {
  const file = join(directory, `marquee-${port}.yaml`)
  writeFileSync(file, JSON.stringify({ listen: { port }, operations: null, crm: { kind: 'files', directory } }))
  return file
}

/** Bodies as files, written by `writeBodies`, and the type by Accept. */
function nginx({ directory }: Setting, port: number): readonly string[] | null {
  if (!existsSync('/usr/sbin/nginx')) return null
  const home = join(directory, `nginx-${port}`)
  mkdirSync(home, { recursive: true })
  const conf = join(home, 'nginx.conf')
  writeFileSync(
    conf,
    `daemon off; master_process off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000; sendfile on; tcp_nopush on;
  open_file_cache max=100000 inactive=600s; open_file_cache_valid 600s;
  client_body_temp_path ${home}/a; proxy_temp_path ${home}/b; fastcgi_temp_path ${home}/c; uwsgi_temp_path ${home}/d; scgi_temp_path ${home}/e;
  map $http_accept $shape { default json; ~hal\\+json hal.json; ~hal\\+xml hal.xml; ~xml xml; }
  map $shape $type { json application/json; xml application/xml; hal.json application/hal+json; hal.xml application/hal+xml; }
  server {
    listen 127.0.0.1:${port};
    location ~ ^/api/events/((..)[0-9a-f-]+)$ {
      root ${directory}/bodies; types { } default_type "$type; charset=utf-8";
      try_files /$2/$1.$shape =404;
      add_header Vary Accept; add_header X-Content-Type-Options nosniff; add_header Access-Control-Allow-Origin *;
      add_header Cache-Control "public, max-age=27"; add_header Age 3;
    }
  }
}
`,
  )
  return ['/usr/sbin/nginx', '-c', conf, '-p', home, '-e', `${home}/error.log`]
}

/** A cache in front of nginx: after the first round every answer is a hit. */
function varnish({ directory }: Setting, port: number): readonly string[] | null {
  const backend = process.env['BENCH_BACKEND_PORT']
  if (!existsSync('/usr/sbin/varnishd') || backend === undefined) return null
  const vcl = join(directory, `varnish-${port}.vcl`)
  writeFileSync(
    vcl,
    `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${backend}"; }
sub vcl_backend_response { set beresp.ttl = 1h; if (beresp.status == 404) { set beresp.ttl = 1h; } }
`,
  )
  return [
    '/usr/sbin/varnishd',
    '-F',
    '-n',
    join(directory, `varnish-${port}`),
    '-a',
    `127.0.0.1:${port}`,
    '-f',
    vcl,
    '-s',
    'malloc,1g',
  ]
}
