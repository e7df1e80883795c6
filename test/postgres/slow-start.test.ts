import { afterAll, beforeAll, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, programOf } from '../support/child.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { World } from './world.ts'
import { RUNTIMES } from '../support/depth.ts'

/** What the server says comes so much later: a start takes some ten turns, and so longer than the first line waits. */
const LATENCY_MS = 300

/** An address behind which the server answers late. */
async function slowly(target: number): Promise<Server> {
  const server = createServer((socket) => {
    const upstream = connect(target, '127.0.0.1')
    socket.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => setTimeout(() => socket.writable && socket.write(chunk), LATENCY_MS))
    for (const end of [socket, upstream]) {
      end.on('error', () => {})
      end.on('close', () => {
        socket.destroy()
        upstream.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

let world: World
let slow: Server
let folder: string

describeWithPostgres('serve before a slow PostgreSQL', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'marquee-slow-'))
    world = await World.create()
    await world.fill(3)
    slow = await slowly(world.server.port)
  })

  afterAll(async () => {
    slow.close()
    await world.remove()
    rmSync(folder, { recursive: true })
  })

  it.each(RUNTIMES)('ends with 2 for what it lacks, however late it says so (%s)', async (runtime) => {
    const address = slow.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const lists = {
      events: { from: 'crm.public_evnts' },
      venues: { from: 'crm.public_venues', fields: { Name: 'nam' } },
    }
    const crm = { kind: 'postgres', url: { env: 'DATABASE_URL' }, ...lists }
    const path = join(folder, `${runtime}.yaml`)
    writeFileSync(path, JSON.stringify({ listen: { port: 0 }, operations: null, crm }))
    const env = { DATABASE_URL: world.url.replace(`:${world.server.port}`, `:${port}`) }
    const child = new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', path], { env })
    expect(await child.exited).toBe(2)
    expect(child.stdout).toContain('"event":"listening"')
    expect(child.stderr).toContain('did you mean crm.public_events?')
  })
})
