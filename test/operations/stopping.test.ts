import { describe, expect, it } from 'bun:test'
import { createServer } from 'node:net'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'

/** So many rows that a read of them is still under way when the signal comes. */
function manyRows(): string {
  const tags = Array.from({ length: 20 }, (_, index) => `tag ${index}`)
  const row = { Start: '2026-07-12T19:30:00Z', Finish: '2026-07-12T21:30:00Z', ShowOnWeb: true, Tags: tags }
  const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  return JSON.stringify(Array.from({ length: 40_000 }, (_, index) => ({ Id: idOf(index), ...row })))
}

describe.each(['bun', 'node'] as Runtime[])('the operations listener on %s', (runtime) => {
  it('is not ready from the signal on, while what is in flight still gets its answer, and closes last', async () => {
    const settings = { freshness: { maxAge: 0, refreshEvery: '1h' }, limits: { drain: '60s', waitFor: '60s' } }
    const directory = new FilesDirectory({ operations: { port: 0 }, ...settings }, { events: '[]', venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const ready = `${listening.operations ?? ''}ready`
    expect((await askOperations(ready))?.status).toBe(200)
    directory.write('events', manyRows())
    const answer = fetch(`${listening.address}api/events/00000000-0000-4000-8000-000000000001`)
    await eventually(
      () => askOperations(`${listening.operations ?? ''}status`),
      (reply) => reply?.text.includes('"waiting":1') === true,
    )
    child.signal('SIGTERM')
    const during = await eventually(
      () => askOperations(ready),
      (reply) => reply?.status !== 200,
    )
    expect(during?.text).toBe('not ready\n')
    const status = await askOperations(`${listening.operations ?? ''}status`)
    expect([status?.status, status?.text]).toEqual([503, expect.stringContaining('"ready":false') as never])
    expect((await answer).status).toBe(200)
    expect(await child.exited).toBe(0)
    const lines = child.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { time: string; event: string })
    expect(lines.slice(-1)).toMatchObject([{ event: 'stopped', message: 'the service has stopped' }])
    expect(lines.map(({ event }) => event)).toContain('stopping')
    expect(lines[0]?.event).toBe('listening')
    const times = lines.map(({ time }) => time)
    expect(times).toEqual(times.toSorted())
    directory.remove()
  })

  it('that cannot have its port keeps nobody from being served', async () => {
    const port = await freePort()
    const taken = createServer().listen(port, '127.0.0.1')
    const directory = new FilesDirectory({ operations: { port } }, { events: '[]', venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    expect(listening.operations).toBe(null)
    expect((await fetch(`${listening.address}api/events/x`)).status).toBe(400)
    expect(child.stderr).toContain('operations.port')
    expect(await child.stop()).toBe(0)
    taken.close()
    directory.remove()
  })
})
