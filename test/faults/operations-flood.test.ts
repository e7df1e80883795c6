import { expect, it } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { RawConnection } from './raw-connection.ts'
import { RUNTIMES } from '../support/depth.ts'

const TOKEN = 'a-token'

/** An address of this machine that is not loopback. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}

it('connections that say nothing keep no probe from its answer, and are closed like those of the public listener', async () => {
  const tried = RUNTIMES.map(async (runtime) => {
    const directory = new FilesDirectory(
      { operations: { host: '0.0.0.0', port: 0, token: { env: 'TOKEN' } } },
      { events: '[]', venues: '[]' },
    )
    const { child, listening } = await serve(runtime, directory.configuration, { TOKEN })
    const port = Number(new URL(listening.operations ?? '').port)
    const hold = (host: string): Promise<RawConnection[]> =>
      Promise.all(Array.from({ length: 100 }, async () => (await RawConnection.open(port, host)).read()))
    const probe = async (host: string, path: string): Promise<void> => {
      const answer = await fetch(`http://${host}:${port}/${path}`, { signal: AbortSignal.timeout(30_000) })
      expect([runtime, host, path, answer.status]).toEqual([runtime, host, path, 200])
    }
    const silent = await hold(ownAddress())
    // A cluster's agent asks from the address of its node.
    for (const path of ['live', 'ready', 'live', 'ready']) await probe(ownAddress(), path)
    silent.push(...(await hold('127.0.0.1')))
    for (const path of ['live', 'ready', 'live', 'ready']) await probe('127.0.0.1', path)
    const beganMs = performance.now()
    await Promise.all(silent.map(({ closed }) => closed))
    expect(performance.now() - beganMs).toBeLessThan(60_000)
    expect(await child.stop()).toBe(0)
    directory.remove()
  })
  await Promise.all(tried)
})
