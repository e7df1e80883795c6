import { describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { marquee, serve } from '../support/marquee-process.ts'
import { RUNTIMES } from '../support/depth.ts'

/** Mounts a file system over a directory that never answers, until it is stopped; null where that is not allowed. */
async function hang(directory: string): Promise<Child | null> {
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
  const mount = `mount -i -t fuse -o ${options} marquee-test '${directory}'`
  const child = new Child('sh', ['-c', `exec 3<>/dev/fuse && ${mount} && echo mounted && exec sleep 60`])
  return (await child.line((line) => line === 'mounted')) === null ? null : child
}

async function restore(directory: string, mounted: Child): Promise<void> {
  await mounted.stop()
  spawnSync('umount', ['-l', directory])
}

async function canHang(): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-hang-'))
  const mounted = await hang(directory)
  if (mounted !== null) await restore(directory, mounted)
  rmSync(directory, { recursive: true })
  return mounted !== null
}

function refusals({ stdout }: Child): readonly string[] {
  return stdout.split('\n').filter((line) => line.includes('"event":"reload-refused"'))
}

/** Hangs up, and waits for the one line more that says why nothing was reloaded. */
async function refused(child: Child): Promise<string> {
  const before = refusals(child).length
  child.signal('SIGHUP')
  await child.line((line) => refusals(child).length > before && line === refusals(child)[before])
  return refusals(child)[before] ?? ''
}

describe.each(RUNTIMES)('a reload on %s', (runtime) => {
  it('whose file is a pipe is refused at once; the next one is read, and SIGTERM ends the service', async () => {
    const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
    const { child } = await serve(runtime, directory.configuration)
    renameSync(directory.configuration, `${directory.configuration}.away`)
    spawnSync('mkfifo', [directory.configuration])
    expect(await refused(child)).toContain('is a pipe or a device: only regular files are read')
    expect(await refused(child)).toContain('only regular files are read')
    renameSync(`${directory.configuration}.away`, directory.configuration)
    child.signal('SIGHUP')
    expect(await child.line((line) => line.includes('"event":"reloaded"'))).toContain('nothing has changed')
    expect(await child.stop()).toBe(0)
    directory.remove()
  })
})

it.each(RUNTIMES)('check on %s refuses a pipe as a configuration, and as the file of a secret', async (runtime) => {
  const directory = new FilesDirectory({ operations: { token: { file: './pipe' } } }, { events: '[]', venues: '[]' })
  const pipe = join(directory.path, 'pipe')
  spawnSync('mkfifo', [pipe])
  const whole = await marquee(runtime, ['check', '--config', pipe])
  expect([whole.status, whole.stderr]).toEqual([
    2,
    `${pipe}: is a pipe or a device: only regular files are read (named by --config)\n`,
  ])
  const secret = await marquee(runtime, ['check', '--config', directory.configuration])
  expect(secret.status).toBe(2)
  expect(secret.stderr).toContain('operations.token needs the file ./pipe, which is a pipe or a device')
  directory.remove()
})

if (await canHang()) {
  it('a file on a mount that does not answer: refused after 10 s, the next at once, and SIGTERM ends it', async () => {
    const tried = RUNTIMES.map(async (runtime) => {
      const directory = new FilesDirectory(
        { operations: { port: 0, token: { file: './far/token' } } },
        { events: '[]', venues: '[]' },
      )
      const far = join(directory.path, 'far')
      mkdirSync(far)
      writeFileSync(join(far, 'token'), 'right')
      const { child, listening } = await serve(runtime, directory.configuration)
      const mounted = await hang(far)
      if (mounted === null) throw new Error('nothing could be mounted')
      try {
        const beganMs = performance.now()
        expect(await refused(child)).toContain(
          'needs the file ./far/token, which cannot be read: no response within 10 s',
        )
        expect(performance.now() - beganMs).toBeWithin(9_900, 30_000)
        expect((await fetch(`${listening.operations}live`)).status).toBe(200)
        const againMs = performance.now()
        expect(await refused(child)).toContain('no response within 10 s')
        // At once, and not after 10 s again.
        expect(performance.now() - againMs).toBeLessThan(9_000)
        expect(await child.stop()).toBe(0)
      } finally {
        await restore(far, mounted)
      }
      directory.remove()
    })
    await Promise.all(tried)
  })
} else console.warn('No file system that hangs can be mounted here: a configuration on one is not tested.')
