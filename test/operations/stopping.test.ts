import { describe, expect, it } from 'bun:test'
import { createServer } from 'node:net'
import { EVENT, EVENT_ROW } from '../contract/rows.ts'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { heldList } from '../support/held-list.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'

describe.each(['bun', 'node'] as Runtime[])('the operations listener on %s', (runtime) => {
  it('is not ready from the signal on, while what is in flight still gets its answer, and closes last', async () => {
    const list = await heldList([EVENT_ROW])
    const directory = new FilesDirectory({ operations: { port: 0 }, ...list.settings }, null)
    const { child, listening } = await serve(runtime, directory.configuration)
    const ready = `${listening.operations ?? ''}ready`
    await eventually(
      () => askOperations(ready),
      (reply) => reply?.status === 200,
    )
    list.hold()
    const answer = fetch(`${listening.address}api/events/${EVENT}`)
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
    list.release()
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
    list.close()
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
