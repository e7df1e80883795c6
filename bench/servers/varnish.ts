import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Child } from '../../test/support/child.ts'
import { ACCEPTS, CONNECTIONS, HOST, unknown } from '../load/callers.ts'
import { findTool } from '../machine/find-tool.ts'
import { outputOf } from '../machine/pinned.ts'
import { eventUrl } from './server.ts'

const PATIENCE_MS = 10_000
const LOOK_AGAIN_MS = 1500
const MOST_LOOKS = 8

/** The arguments that run a Varnish in front of a server, which keeps all it was ever told, 404 too, for an hour. */
export function varnishArguments(home: string, port: number, backendPort: number): string[] {
  const file = join(home, 'cache.vcl')
  writeFileSync(
    file,
    `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${backendPort}"; }
sub vcl_backend_response { set beresp.ttl = 1h; }
`,
  )
  return ['-F', '-n', instanceOf(home), '-a', `127.0.0.1:${port}`, '-f', file, '-s', 'malloc,2g']
}

/** Asks for every event by every Accept, and for every unknown id, so that all that follows is in the cache. */
export async function warmVarnish(port: number, ids: readonly string[]): Promise<void> {
  let next = 0
  // Varnish keeps what it is told by address and Host.
  const ask = async (id: string, accept: string): Promise<void> => {
    const response = await fetch(eventUrl(port, id), { headers: { accept, host: HOST } })
    await response.arrayBuffer()
  }
  const work = async (): Promise<void> => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
      for (const accept of ACCEPTS) await ask(id, accept)
      await ask(unknown(id), '*/*')
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
}

/** How many answers came from the cache, and how many had to be fetched. */
export interface CacheCounts {
  readonly hits: number
  readonly misses: number
}

/** What was counted up to now; its threads tell what they counted some time later. Null without varnishstat. */
export async function cacheCounts(home: string): Promise<CacheCounts | null> {
  const varnishstat = findTool('varnishstat')
  if (varnishstat === null) return null
  for (let [before, looks] = ['', 0]; ; looks++) {
    const text = await outputOf(new Child(varnishstat, ['-1', '-n', instanceOf(home)]), PATIENCE_MS)
    const count = (name: string): number => Number(new RegExp(`^MAIN\\.${name}\\s+(\\d+)`, 'm').exec(text)?.[1])
    const counts = { hits: count('cache_hit'), misses: count('cache_miss') }
    const told = JSON.stringify(counts)
    if (told === before || looks === MOST_LOOKS) return counts
    before = told
    await Bun.sleep(LOOK_AGAIN_MS)
  }
}

function instanceOf(home: string): string {
  return join(home, 'varnish')
}
