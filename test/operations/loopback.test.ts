import { describe, expect, it } from 'bun:test'
import { runCommand } from '../commands/run-command.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'
import { RUNTIMES } from '../support/depth.ts'

describe.each(RUNTIMES)('operations.host without a token, on %s', (runtime) => {
  it.each([
    ['127.0.0.2', 'http://127.0.0.2'],
    ['0:0:0:0:0:0:0:1', 'http://[::1]'],
    ['[::1]', 'http://[::1]'],
  ])('%s is answered by that name, and no other name is', async (host, origin) => {
    const directory = new FilesDirectory({ operations: { host, port: 0 } }, { events: '[]', venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const address = listening.operations ?? ''
    expect(address).toStartWith(`${origin}:`)
    const ask = async (path: string, Host?: string): Promise<unknown> => {
      const reply = await askOperations(`${address}${path}`, Host === undefined ? {} : { headers: { Host } })
      return reply?.status
    }
    const { hostname, port } = new URL(address)
    for (const path of ['live', 'ready', 'status', 'metrics', '']) expect([path, await ask(path)]).toEqual([path, 200])
    for (const Host of [hostname, 'localhost', `127.0.0.1:${port}`, `[::1]:${port}`]) {
      expect([Host, await ask('status', Host)]).toEqual([Host, 200])
    }
    for (const Host of ['127.0.0.3', `evil.example:${port}`])
      expect([Host, await ask('live', Host)]).toEqual([Host, 403])
    expect(await child.stop()).toBe(0)
    directory.remove()
  })

  it('marquee ready asks the instance at that very address', async () => {
    const directory = new FilesDirectory({ operations: { host: '127.0.0.2', port: 0 } }, { events: '[]', venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const port = Number(new URL(listening.operations ?? '').port)
    const asking = new FilesDirectory({ operations: { host: '127.0.0.2', port } }, { events: '[]', venues: '[]' })
    const { status, stdout } = await runCommand(['ready', '--config', asking.configuration], { runtime })
    expect([status, stdout]).toEqual([0, 'ready\n'])
    expect(await child.stop()).toBe(0)
    directory.remove()
    asking.remove()
  })
})
