import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLIENT_CORE, outputOf, pinned } from '../machine/pinned.ts'
import { ACCEPTS, CONNECTIONS, HOST, UNKNOWN_ENDING, UNKNOWN_SHARE } from './callers.ts'
import type { Load, Loader } from './callers.ts'
import type { Popularity } from './zipf.ts'
import { ZIPF_LUA } from './zipf.ts'

const PATIENCE_MS = 20_000

/** wrk with a script that requests random events. */
export class Wrk implements Loader {
  readonly #program: string
  readonly #script: string

  constructor(program: string, folder: string, idsFile: string, popularity: Popularity) {
    this.#program = program
    this.#script = join(folder, `${popularity}.lua`)
    writeFileSync(this.#script, scriptFor(idsFile, popularity))
  }

  async load(port: number, seconds: number): Promise<Load> {
    const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', this.#script, `http://127.0.0.1:${port}`]
    const output = await outputOf(pinned(CLIENT_CORE, this.#program, args), seconds * 1000 + PATIENCE_MS)
    const line = output.split('\n').find((text) => text.startsWith('{'))
    if (line === undefined) throw new Error(`wrk said: ${output}`)
    return JSON.parse(line) as Load
  }
}

/** The script. Its seed is fixed, so the requests are the same in each run. */
function scriptFor(idsFile: string, popularity: Popularity): string {
  return `${ZIPF_LUA}local accepts = { ${ACCEPTS.map((accept) => JSON.stringify(accept)).join(', ')} }
local ids = {}
for line in io.lines(${JSON.stringify(idsFile)}) do ids[#ids + 1] = line end
local random = math.random
init = function() math.randomseed(7) end
request = function()
  local id = ids[${popularity === 'zipf' ? 'zipf_rank' : 'random'}(#ids)]
  if random() < ${UNKNOWN_SHARE} then id = string.sub(id, 1, -${UNKNOWN_ENDING.length + 1}) .. "${UNKNOWN_ENDING}" end
  local accept = accepts[random(${ACCEPTS.length})]
  return "GET /api/events/" .. id .. " HTTP/1.1\\r\\nHost: ${HOST}\\r\\nAccept: " .. accept .. "\\r\\n\\r\\n"
end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"perSecond":%.1f,"p50Ms":%.3f,"p99Ms":%.3f,"p999Ms":%.3f,"refused":%d,"errors":%d}\\n',
    summary.requests, summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
`
}
