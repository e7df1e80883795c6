import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONNECTIONS } from '../load/callers.ts'
import { openFilesAllowed } from '../machine/open-files.ts'

/** For the clients, for Varnish, for files that have left the cache and are still being sent, and as many to spare. */
const OWN_FILES = 4 * CONNECTIONS
/** More than the four bodies of each of 10,000 events. */
const MOST_KEPT = 50_000

/**
 * How many bodies nginx keeps open. With more files than it may open it would refuse requests; and running as one process
 * it heeds no worker_rlimit_nofile, so the limit is the one it inherits.
 */
export const KEPT_OPEN: number = keptOpenOf(openFilesAllowed())

/** With a low limit it opens most bodies anew, which is slow but right. */
export function keptOpenOf(allowed: number): number {
  return Math.min(MOST_KEPT, Math.max(1, allowed - OWN_FILES))
}

/**
 * The configuration of an nginx that serves the bodies of `writeBodies`, the type by Accept, with the headers of Marquee
 * that do not depend on the record. Returns the arguments that run it as one process.
 */
export function nginxArguments(home: string, bodies: string, port: number): string[] {
  mkdirSync(home, { recursive: true })
  const file = join(home, 'nginx.conf')
  writeFileSync(file, configuration(home, bodies, port))
  return ['-c', file, '-p', home, '-e', `${home}/error.log`]
}

function configuration(home: string, bodies: string, port: number): string {
  return `daemon off; master_process off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000; sendfile on; tcp_nopush on;
  open_file_cache max=${KEPT_OPEN} inactive=600s; open_file_cache_valid 600s;
  client_body_temp_path ${home}/a; proxy_temp_path ${home}/b; fastcgi_temp_path ${home}/c;
  uwsgi_temp_path ${home}/d; scgi_temp_path ${home}/e;
  map $http_accept $shape { default json; ~hal\\+json haljson; ~hal\\+xml halxml; ~xml xml; }
  types {
    "application/json; charset=utf-8" json; "application/xml; charset=utf-8" xml;
    "application/hal+json; charset=utf-8" haljson; "application/hal+xml; charset=utf-8" halxml;
  }
  server {
    listen 127.0.0.1:${port};
    location ~ ^/api/events/(?<id>(?<start>..)[0-9a-f-]+)$ {
      root ${bodies};
      try_files /$start/$id.$shape =404;
      add_header Vary Accept; add_header X-Content-Type-Options nosniff; add_header Access-Control-Allow-Origin *;
      add_header Cache-Control "public, max-age=27"; add_header Age 3;
    }
  }
}
`
}
