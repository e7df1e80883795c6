import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeBodies } from './bodies.ts'
import { writeData } from './data.ts'
import type { Load } from './load.ts'
import { runLoad, writeScript } from './load.ts'
import { usageOf } from './process-tree.ts'
import { report } from './report.ts'
import { SERVERS, startServer, stopServer } from './servers.ts'
import type { Server } from './servers.ts'
import { checkAnswers } from './check-answers.ts'

export interface Round extends Load {
  readonly cpuUsPerRequest: number
  readonly rssBytes: number
}

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 10_000)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const FIRST_PORT = 18_200
const SERVER_CORE = 0
const CLIENT_CORE = 1

/** Every server in turn, round after round, so that a machine that grows slow is slow for all. */
async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-bench-'))
  mkdirSync(directory, { recursive: true })
  const servers: Server[] = []
  try {
    const { ids } = writeData(directory, EVENTS)
    const script = writeScript(directory, ids)
    const setting = { directory, ids, core: SERVER_CORE }
    const only = process.env['BENCH_ONLY']?.split(',')
    const leftOut: string[] = []
    let port = FIRST_PORT
    for (const name of SERVERS.keys()) {
      if (only !== undefined && !only.includes(name)) continue
      if (name === 'nginx, files') await writeBodies(directory, ids, portOf(servers, 'Marquee on Bun'))
      if (name === 'Varnish') process.env['BENCH_BACKEND_PORT'] = String(portOf(servers, 'nginx, files'))
      const server = await startServer(name, setting, port++)
      if (server === null) leftOut.push(name)
      else servers.push(server)
    }
    for (const server of servers) await checkAnswers(server, ids)
    const rounds = new Map<string, Round[]>()
    for (let round = -1; round < ROUNDS; round++) {
      for (const server of servers) {
        const measured = measure(server, script, round < 0 ? 2 : SECONDS)
        if (round >= 0) rounds.set(server.name, [...(rounds.get(server.name) ?? []), measured])
      }
    }
    const text = report({ rounds, leftOut, events: EVENTS, seconds: SECONDS })
    process.stdout.write(text)
    const out = process.env['BENCH_OUT']
    if (out !== undefined) writeFileSync(out, text)
  } finally {
    for (const server of servers) await stopServer(server)
    rmSync(directory, { recursive: true, force: true })
  }
}

function measure(server: Server, script: string, seconds: number): Round {
  const before = usageOf(server.pid)
  const load = runLoad(server.port, script, seconds, CLIENT_CORE)
  const after = usageOf(server.pid)
  return { ...load, cpuUsPerRequest: (after.cpuUs - before.cpuUs) / load.requests, rssBytes: after.rssBytes }
}

function portOf(servers: readonly Server[], name: string): number {
  const server = servers.find((candidate) => candidate.name === name)
  if (server === undefined) throw new Error(`${name} has to run for this`)
  return server.port
}

await main()
