// Callers: as fast as they can (wrk), at a steady rate (paced-client.ts), or until the first answer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MEDIA_TYPES } from '../src/formats/media-types.ts'
import { type Child, programOf } from '../test/support/child.ts'
import { CLIENT_CORE, outputOf, pinned, toolOf, usageOf } from './machine.ts'

/** A browser's Accept header. */
export const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

/** All Accept headers that callers send: six types, a browser's, and any type. */
export const ACCEPTS: readonly string[] = [...MEDIA_TYPES, BROWSER, '*/*']

/** The Host header of all callers. */
export const HOST = 'bench'

/** The share of requests for unknown ids. */
export const UNKNOWN_SHARE = 0.05

/** The number of keep-alive connections. */
export const CONNECTIONS = 64

/** The end of all unknown ids. */
export const UNKNOWN_ENDING = 'ffffffffffff'

export function unknown(id: string): string {
  return id.slice(0, -UNKNOWN_ENDING.length) + UNKNOWN_ENDING
}

export function eventUrl(port: number, id: string): string {
  return `http://127.0.0.1:${port}/api/events/${id}`
}

const PATIENCE_MS = 60_000
const START_PATIENCE_MS = 600_000

/** A server under full load for some seconds. */
export interface Round {
  readonly requests: number
  readonly perSecond: number
  readonly p999Ms: number
  /** The number of responses with a status of 400 or more, including 404 for unknown ids. */
  readonly refused: number
  /** The number of failed connections and of requests that timed out. */
  readonly errors: number
  readonly cpuUsPerRequest: number
  readonly rssBytes: number
}

/** Sends a server random requests by wrk. `paths` are random paths; without them, random events of the ids in the file. */
export class Wrk {
  readonly #script: string

  constructor(folder: string, idsFile: string, paths: readonly string[] = []) {
    this.#script = join(folder, paths.length === 0 ? 'events.lua' : 'paths.lua')
    writeFileSync(this.#script, scriptFor(idsFile, paths))
  }

  async round({ pid, port }: { readonly pid: number; readonly port: number }, seconds: number): Promise<Round> {
    const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', this.#script, `http://127.0.0.1:${port}`]
    const before = usageOf(pid)
    const output = await outputOf(pinned(CLIENT_CORE, toolOf('wrk'), args), seconds * 1000 + PATIENCE_MS)
    const after = usageOf(pid)
    const line = output.split('\n').find((text) => text.startsWith('{'))
    if (line === undefined) throw new Error(`wrk printed: ${output}`)
    const load = JSON.parse(line) as Omit<Round, 'cpuUsPerRequest' | 'rssBytes'>
    return { ...load, cpuUsPerRequest: (after.cpuUs - before.cpuUs) / load.requests, rssBytes: after.rssBytes }
  }
}

/** The script. Its seed is fixed, so the requests are the same in each run. */
function scriptFor(idsFile: string, paths: readonly string[]): string {
  return `local accepts = { ${ACCEPTS.map((accept) => JSON.stringify(accept)).join(', ')} }
local paths = { ${paths.map((path) => JSON.stringify(path)).join(', ')} }
local ids = {}
for line in io.lines(${JSON.stringify(idsFile)}) do ids[#ids + 1] = line end
local random = math.random
init = function() math.randomseed(7) end
local function get(path, accept)
  return "GET " .. path .. " HTTP/1.1\\r\\nHost: ${HOST}\\r\\nAccept: " .. accept .. "\\r\\n\\r\\n"
end
request = function()
  if #paths > 0 then return get(paths[random(#paths)], "*/*") end
  local id = ids[random(#ids)]
  if random() < ${UNKNOWN_SHARE} then id = string.sub(id, 1, -${UNKNOWN_ENDING.length + 1}) .. "${UNKNOWN_ENDING}" end
  return get("/api/events/" .. id, accepts[random(#accepts)])
end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"perSecond":%.1f,"p999Ms":%.3f,"refused":%d,"errors":%d}\\n',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(99.9) / 1000,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
`
}

/** The result of requests sent at a steady rate. Latencies count from when a request was due. */
export interface Paced {
  readonly requests: number
  readonly p50Ms: number
  readonly p999Ms: number
  readonly worstMs: number
  /** The number of responses with a wrong status, and of requests without a response. */
  readonly errors: number
  readonly refused: number
  /** The longest stall of the client itself, in ms; latencies may include it. */
  readonly clientLateMs: number
}

/** Starts a steady load of random events; SIGTERM ends it early, with a result. */
export function startPaced(
  port: number,
  idsFile: string,
  rate: number,
  seconds: number,
  warmUpSeconds: number = 2,
): Child {
  const program = join(import.meta.dirname, 'paced-client.ts')
  const args = [program, String(port), idsFile, String(Math.round(rate)), String(seconds), String(warmUpSeconds)]
  return pinned(CLIENT_CORE, programOf('bun'), args)
}

export async function pacedResult(client: Child, withinSeconds: number): Promise<Paced> {
  return JSON.parse(await outputOf(client, withinSeconds * 1000 + PATIENCE_MS)) as Paced
}

/** Resolves once the event is answered with 200; throws with the output of a program that ends before. */
export async function untilAnswered(child: Child, port: number, id: string): Promise<void> {
  let ended: number | NodeJS.Signals | null = null
  void child.exited.then((status) => (ended = status))
  const untilMs = performance.now() + START_PATIENCE_MS
  while (performance.now() < untilMs) {
    if (ended !== null) throw new Error(`a server ended with ${String(ended)}:\n${child.stdout}${child.stderr}`)
    if ((await statusOf(eventUrl(port, id))) === 200) return
    await Bun.sleep(2)
  }
  throw new Error(`${id} was not answered within ${START_PATIENCE_MS} ms:\n${child.stderr}`)
}

/** The status of an answer; 0 if nothing listens yet. */
async function statusOf(url: string): Promise<number> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}
