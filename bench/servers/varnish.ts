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
/** Four times what the objects of an event take: nothing is evicted. */
const EVENT_BYTES = 64_000

/**
 * An object for each of four types, found as it is: no more of the built-in VCL runs than is needed, and nothing is
 * compressed. All it was ever told, 404 too, it keeps for an hour.
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

/** What is logged of each request, to a memory that nobody reads here: nginx and Marquee log none either. */
const UNLOGGED =
  'Begin End Filters Hit Link ReqAcct ReqHeader ReqMethod ReqProtocol ReqStart ReqURL ReqUnset RespHeader RespProtocol RespReason RespStatus RespUnset Timestamp VCL_call VCL_return VCL_use'

/** The arguments that run a Varnish for one core in front of a server. */
export function varnishArguments(home: string, port: number, backendPort: number, events: number): string[] {
  const file = join(home, 'cache.vcl')
  writeFileSync(file, vcl(backendPort))
  const unlogged = UNLOGGED.split(' ').map((tag) => `-${tag}`)
  const settings = ['thread_pools=1', 'http_gzip_support=off', 'lru_interval=3600', `vsl_mask=${unlogged.join(',')}`]
  const storage = `malloc,${Math.ceil((events * EVENT_BYTES) / 1e6) + 64}m`
  const parameters = settings.flatMap((setting) => ['-p', setting])
  return ['-F', '-n', instanceOf(home), '-a', `127.0.0.1:${port}`, '-f', file, '-s', storage, ...parameters]
}

/** Asks for every event in every shape, and for every unknown id: all that follows is in the cache. */
export async function warmVarnish(port: number, ids: readonly string[]): Promise<void> {
  // Varnish keeps what it is told by address and Host.
  const ask = async (id: string, accept: string): Promise<void> => {
    const response = await fetch(eventUrl(port, id), { headers: { accept, host: HOST } })
    await response.arrayBuffer()
  }
  await eachAtOnce(ids, async (id) => {
    for (const [, accept] of BODIES) await ask(id, accept)
    // A 404 of nginx does not vary.
    await ask(unknown(id), '*/*')
  })
}

/** How many answers came from the cache, and how many had to be fetched. */
export interface CacheCounts {
  readonly hits: number
  readonly misses: number
  /** Objects that were thrown out for want of room. */
  readonly nuked: number
}

/** What was counted up to now; its threads tell what they counted some time later. Null without varnishstat. */
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
