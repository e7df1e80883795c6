import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MEDIA_TYPES, shapeOf, SHAPES } from '../src/formats/media-types.ts'
import { BROWSER, CONNECTIONS, eventUrl } from './load.ts'

/** The four shapes: the file extension, and the Accept header that selects it. */
export const BODIES: readonly (readonly [ending: string, accept: string])[] = SHAPES.map((shape) => [
  shape.replace('-', ''),
  MEDIA_TYPES.find((type) => shapeOf[type] === shape) ?? shape,
])

/** Ways to send a file. Which one is cheaper for bodies of 1 kB depends on the machine. */
export const SENDING = {
  'sendfile off': 'sendfile off; output_buffers 1 8k;',
  'sendfile on': 'sendfile on; tcp_nopush on;',
} as const

/** Requests every body from a running Marquee, and writes each to `api/events/ID.SHAPE` for nginx. */
export async function writeBodies(folder: string, ids: readonly string[], port: number): Promise<void> {
  const events = join(folder, 'api/events')
  mkdirSync(events, { recursive: true })
  await eachAtOnce(ids, async (id) => {
    for (const [shape, accept] of BODIES) {
      const response = await fetch(eventUrl(port, id), { headers: { accept } })
      if (response.status !== 200) throw new Error(`${id} was answered with ${response.status}`)
      writeFileSync(join(events, `${id}.${shape}`), await response.bytes())
    }
  })
}

/** Runs `work` for each id, with as many at once as there are connections. */
export async function eachAtOnce(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const left = ids.values()
  const one = async (): Promise<void> => {
    for (const id of left) await work(id)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
}

/**
 * The arguments for an nginx of one process that serves these files by Accept, with Marquee's headers that do not
 * depend on the record.
 */
export function nginxArguments(
  home: string,
  bodies: string,
  files: number,
  sending: keyof typeof SENDING,
  port: number,
): string[] {
  mkdirSync(home, { recursive: true })
  const file = join(home, 'nginx.conf')
  // A cache of open files that is too small for all of them thrashes.
  const cache = `open_file_cache max=${files} inactive=1h; open_file_cache_valid 1h;`
  const settings = `${SENDING[sending]} ${files + 4 * CONNECTIONS <= openFilesAllowed() ? cache : ''}`
  writeFileSync(
    file,
    `daemon off; master_process off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000; ${settings}
  client_body_temp_path ${home}/a; proxy_temp_path ${home}/b; fastcgi_temp_path ${home}/c;
  uwsgi_temp_path ${home}/d; scgi_temp_path ${home}/e;
  map_hash_bucket_size 256;
  # What is asked is found in a table; the expressions are for what nobody here asks.
  map $http_accept $shape {
    default json; "*/*" json; application/json json; text/json json; application/xml xml; text/xml xml;
    application/hal+json haljson; application/hal+xml halxml; "${BROWSER}" xml;
    ~hal\\+json haljson; ~hal\\+xml halxml; ~xml xml;
  }
  types {
    "application/json; charset=utf-8" json; "application/xml; charset=utf-8" xml;
    "application/hal+json; charset=utf-8" haljson; "application/hal+xml; charset=utf-8" halxml;
  }
  server {
    listen 127.0.0.1:${port};
    root ${bodies};
    location /api/events/ {
      try_files $uri.$shape =404;
      add_header Vary Accept; add_header X-Content-Type-Options nosniff; add_header Access-Control-Allow-Origin *;
      add_header Cache-Control "public, max-age=27"; add_header Age 3;
    }
  }
}
`,
  )
  return ['-c', file, '-p', home, '-e', `${home}/error.log`]
}

/** The limit of open files, which a single process of nginx inherits. */
function openFilesAllowed(): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft ?? 1024)
}
