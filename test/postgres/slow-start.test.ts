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

/** An address behind which the server says nothing until it is told to. */
async function silent(target: number, told: () => Promise<void>): Promise<Server> {
  const server = createServer((socket) => {
    const upstream = connect(target, '127.0.0.1')
    socket.pipe(upstream)
    void told().then(() => upstream.pipe(socket))
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
let told = Promise.withResolvers<void>()
let folder: string

describeWithPostgres('serve before a slow PostgreSQL', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'marquee-slow-'))
    world = await World.create()
    await world.fill(3)
    slow = await silent(world.server.port, () => told.promise)
  })

  afterAll(async () => {
    slow.close()
    await world.remove()
    rmSync(folder, { recursive: true })
  })

  it.each(RUNTIMES)('stays up for what it lacks, and says it with the nearest (%s)', async (runtime) => {
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
    told = Promise.withResolvers()
    const child = new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', path], { env })
    // The first line does not wait for the server.
    expect(await child.line((line) => line.includes('"event":"listening"'))).not.toBeNull()
    told.resolve()
    expect(await child.line((line) => line.includes('the events could not be read'))).toContain(
      'did you mean crm.public_events?',
    )
    expect(await child.stop()).toBe(0)
  })
})
