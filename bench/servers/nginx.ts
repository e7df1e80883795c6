import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BROWSER, CONNECTIONS } from '../load/callers.ts'
import { openFilesAllowed } from '../machine/open-files.ts'
import { BODIES } from './bodies.ts'

/** Files for clients, for Varnish, and a reserve. */
const OWN_FILES = 4 * CONNECTIONS

/**
 * Whether nginx may keep the bodies of this many events open: a cache of open files that is too small thrashes. As a
 * single process, nginx ignores worker_rlimit_nofile, so the inherited limit applies.
 */
export function mayKeepOpen(events: number, allowed: number = openFilesAllowed()): boolean {
  return events * BODIES.length + OWN_FILES <= allowed
}

/** Ways to send a file. Which one is cheaper for bodies of 1 kB depends on the machine. */
export const SENDING = {
  copied: 'sendfile off; output_buffers 1 8k;',
  sendfile: 'sendfile on; tcp_nopush on;',
} as const

/**
 * Writes the configuration of an nginx that serves the files of `writeBodies` by Accept, with Marquee's headers that do
 * not depend on the record. Returns the arguments to run it as a single process.
 */
export function nginxArguments(
  home: string,
  bodies: string,
  events: number,
  sending: keyof typeof SENDING,
  port: number,
): string[] {
  mkdirSync(home, { recursive: true })
  const file = join(home, 'nginx.conf')
  const most = events * BODIES.length
  const openFiles = mayKeepOpen(events) ? `open_file_cache max=${most} inactive=1h; open_file_cache_valid 1h;` : ''
  writeFileSync(file, configuration(home, bodies, `${SENDING[sending]} ${openFiles}`, port))
  return ['-c', file, '-p', home, '-e', `${home}/error.log`]
}

function configuration(home: string, bodies: string, settings: string, port: number): string {
  return `daemon off; master_process off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log crit;
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
`
}
