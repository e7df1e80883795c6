import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BROWSER, HOST, eventUrl, unknown } from './load.ts'
import { BODIES, eachAtOnce } from './nginx.ts'

/** Four times the size of an event's objects, so nothing is evicted. */
const EVENT_BYTES = 64_000

/**
 * Caches an object for each of four types unchanged, for an hour, including 404s. Skips as much of the built-in VCL as
 * possible, and does not compress.
 */
const vcl = (backendPort: number): string => `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${backendPort}"; }
sub vcl_recv {
  if (req.http.Accept == "*/*" || req.http.Accept == "text/json") { set req.http.Accept = "application/json"; }
  elsif (req.http.Accept == "text/xml" || req.http.Accept == "${BROWSER}") { set req.http.Accept = "application/xml"; }
  return (hash);
}
sub vcl_backend_response { set beresp.ttl = 1h; return (deliver); }
`

/** Log tags to omit: neither nginx nor Marquee logs requests here. */
const UNLOGGED =
  'Begin End Filters Hit Link ReqAcct ReqHeader ReqMethod ReqProtocol ReqStart ReqURL ReqUnset RespHeader RespProtocol RespReason RespStatus RespUnset Timestamp VCL_call VCL_return VCL_use'

/** The arguments for a single-core Varnish in front of a server. */
export function varnishArguments(home: string, port: number, backendPort: number, events: number): string[] {
  const file = join(home, 'cache.vcl')
  writeFileSync(file, vcl(backendPort))
  const unlogged = UNLOGGED.split(' ').map((tag) => `-${tag}`)
  const settings = ['thread_pools=1', 'http_gzip_support=off', 'lru_interval=3600', `vsl_mask=${unlogged.join(',')}`]
  const storage = `malloc,${Math.ceil((events * EVENT_BYTES) / 1e6) + 64}m`
  const parameters = settings.flatMap((setting) => ['-p', setting])
  return ['-F', '-n', join(home, 'varnish'), '-a', `127.0.0.1:${port}`, '-f', file, '-s', storage, ...parameters]
}

/** Requests every event in every shape, and every unknown id, so that all of them are cached. */
export async function warmVarnish(port: number, ids: readonly string[]): Promise<void> {
  // Varnish caches by path and Host.
  const ask = async (id: string, accept: string): Promise<void> => {
    const response = await fetch(eventUrl(port, id), { headers: { accept, host: HOST } })
    await response.arrayBuffer()
  }
  await eachAtOnce(ids, async (id) => {
    for (const [, accept] of BODIES) await ask(id, accept)
    // nginx's 404 does not vary by Accept.
    await ask(unknown(id), '*/*')
  })
}
