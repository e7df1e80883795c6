import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Load {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** Answers that were neither 200 nor the 404 that was asked for, and connections that failed. */
  readonly errors: number
}

/** What callers ask for: all six types, a browser's, and nothing. */
export const ACCEPTS: readonly string[] = [
  'application/json',
  'text/json',
  'application/xml',
  'text/xml',
  'application/hal+json',
  'application/hal+xml',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  '*/*',
]

const UNKNOWN_SHARE = 0.05

/** Writes the script that makes wrk ask for random ids, in random formats, 5 % of them unknown. */
export function writeScript(directory: string, ids: readonly string[]): string {
  const idsFile = join(directory, 'ids.txt')
  writeFileSync(idsFile, ids.join('\n'))
  const script = join(directory, 'load.lua')
  writeFileSync(
    script,
    `local accepts = { ${ACCEPTS.map((accept) => JSON.stringify(accept)).join(', ')} }
local ids = {}
for line in io.lines(${JSON.stringify(idsFile)}) do ids[#ids + 1] = line end
local count = #ids
local random = math.random
init = function() math.randomseed(7) end
request = function()
  local id = ids[random(count)]
  if random() < ${UNKNOWN_SHARE} then id = string.sub(id, 1, 24) .. "ffffffffffff" end
  return "GET /api/events/" .. id .. " HTTP/1.1\\r\\nHost: bench\\r\\nAccept: " .. accepts[random(${ACCEPTS.length})] .. "\\r\\n\\r\\n"
end
local threads = {}
setup = function(thread) table.insert(threads, thread) end
other = 0
response = nil
done = function(summary, latency)
  io.write(string.format("RESULT %d %d %.3f %.3f %.3f %d\\n", summary.requests, summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
`,
  )
  return script
}

/** Loads a server from the other core; bounded by its duration. */
export function runLoad(port: number, script: string, seconds: number, core: number): Load {
  const { stdout } = spawnSync(
    'taskset',
    ['-c', String(core), 'wrk', '-t1', '-c64', `-d${seconds}s`, '-s', script, `http://127.0.0.1:${port}`],
    { encoding: 'utf8', timeout: (seconds + 20) * 1000 },
  )
  const [, requests, durationUs, p50, p99, p999, errors] =
    /RESULT (\d+) (\d+) ([\d.]+) ([\d.]+) ([\d.]+) (\d+)/.exec(stdout) ?? []
  if (requests === undefined) throw new Error(`wrk said: ${stdout}`)
  return {
    requests: Number(requests),
    perSecond: Number(requests) / (Number(durationUs) / 1e6),
    p50Ms: Number(p50),
    p99Ms: Number(p99),
    p999Ms: Number(p999),
    errors: Number(errors),
  }
}
