import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Child } from '../../test/support/child.ts'
import { BROWSER, HOST, unknown } from '../load/callers.ts'
import { findTool } from '../machine/find-tool.ts'
import { outputOf } from '../machine/pinned.ts'
import { BODIES, eachAtOnce } from './bodies.ts'
import { eventUrl } from './server.ts'

const PATIENCE_MS = 10_000
const LOOK_AGAIN_MS = 1500
const MOST_LOOKS = 8
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
  return ['-F', '-n', instanceOf(home), '-a', `127.0.0.1:${port}`, '-f', file, '-s', storage, ...parameters]
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

/** The numbers of answers from the cache and of fetches. */
export interface CacheCounts {
  readonly hits: number
  readonly misses: number
  /** The number of objects evicted for lack of room. */
  readonly nuked: number
}

/** The counters up to now, once its threads have reported them; `null` without varnishstat. */
export async function cacheCounts(home: string): Promise<CacheCounts | null> {
  const varnishstat = findTool('varnishstat')
  if (varnishstat === null) return null
  for (let [before, looks] = ['', 0]; ; looks++) {
    const text = await outputOf(new Child(varnishstat, ['-1', '-n', instanceOf(home)]), PATIENCE_MS)
    const count = (name: string): number => Number(new RegExp(`^MAIN\\.${name}\\s+(\\d+)`, 'm').exec(text)?.[1])
    const counts = { hits: count('cache_hit'), misses: count('cache_miss'), nuked: count('n_lru_nuked') }
    const told = JSON.stringify(counts)
    if (told === before || looks === MOST_LOOKS) return counts
    before = told
    await Bun.sleep(LOOK_AGAIN_MS)
  }
}

function instanceOf(home: string): string {
  return join(home, 'varnish')
}
