import { describe, expect, it } from 'bun:test'
import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Child, programOf, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { untilListening } from '../support/marquee-process.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGUSR1: 10, SIGUSR2: 12, SIGTERM: 15 } as const
type Tried = keyof typeof NUMBERS

/** Whether the launcher's shell, which handles signals of its own at times, has become the runtime. */
function isRuntime({ pid }: Child): boolean {
  return /\/(?:bun|node)[^/]*$/.test(readlinkSync(`/proc/${pid}/exe`))
}

/** Whether a process ignores a signal, or has a handler for it. */
function survives({ pid }: Child, signal: Tried): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const masks = [...status.matchAll(/^Sig(?:Ign|Cgt):\s*([0-9a-f]+)$/gm)].map(([, mask = '']) => BigInt(`0x${mask}`))
  return masks.some((mask) => (mask >> BigInt(NUMBERS[signal] - 1)) & 1n)
}

function said(child: Child, event: string): readonly string[] {
  return child.stdout.split('\n').filter((line) => line.includes(`"event":"${event}"`))
}

const WAYS = [
  ['the launcher', (configuration: string) => new Child(join(ROOT, 'marquee'), ['serve', '--config', configuration])],
  ...BOTH_RUNTIMES.map((runtime) => {
    const start = (configuration: string): Child =>
      new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', configuration])
    return [runtime, start] as const
  }),
] as const

describe.each(WAYS)('a start by %s', (_, start) => {
  it('is not ended by a SIGHUP: the configuration is read again once, when the start is over', async () => {
    const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
    const child = start(directory.configuration)
    await eventually(
      async () => survives(child, 'SIGHUP'),
      (does) => does,
    )
    const hangingUp = setInterval(() => child.signal('SIGHUP'), 2)
    await untilListening(child).finally(() => clearInterval(hangingUp))
    await child.line((line) => line.includes('"event":"reloaded"'))
    const [first] = child.stdout.split('\n')
    expect(first).toContain('"event":"listening"')
    expect(await child.stop()).toBe(0)
    directory.remove()
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 by %s from its first module on, and says so', async (signal) => {
    const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
    const child = start(directory.configuration)
    await eventually(
      // Node itself has handlers for both, which end it. Ours for SIGHUP comes after ours for these.
      async () => isRuntime(child) && survives(child, signal) && survives(child, 'SIGHUP'),
      (does) => does,
    )
    child.signal(signal)
    expect(await child.exited).toBe(0)
    expect(child.stdout.trim().split('\n').at(-1)).toContain('"event":"stopped"')
    directory.remove()
  })

  it.each(['SIGUSR1', 'SIGUSR2'] as const)('outlives %s from its first module on, and says so once', async (signal) => {
    const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
    const child = start(directory.configuration)
    await eventually(
      async () => isRuntime(child) && survives(child, signal) && survives(child, 'SIGHUP'),
      (does) => does,
    )
    child.signal(signal)
    await untilListening(child)
    child.signal(signal)
    child.signal(signal)
    // Reloads are answered in order: by then all before them were taken.
    child.signal('SIGHUP')
    await child.line((line) => line.includes('"event":"reloaded"'))
    expect(child.stderr).not.toContain('Debugger')
    expect(said(child, 'signal-ignored').length).toBeLessThanOrEqual(1)
    expect(await child.stop()).toBe(0)
    directory.remove()
  })
})

it('a SIGUSR1 that Bun gets is told to the operator, with the signals that mean something', async () => {
  const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
  const { child } = await untilListening(
    new Child(join(ROOT, 'marquee'), ['serve', '--config', directory.configuration]),
  )
  child.signal('SIGUSR1')
  expect(await child.line((line) => line.includes('signal-ignored'))).toMatch(
    /"level":"warn".*SIGUSR1 is always ignored.*SIGHUP/,
  )
  await child.stop()
  directory.remove()
})

it('a command that serves nothing ends by SIGHUP, as a closed terminal sends it', async () => {
  const folder = new FilesDirectory({}, { events: '[]', venues: '[]' })
  const child = new Child(join(ROOT, 'marquee'), ['check', '--config', folder.configuration])
  expect(survives(child, 'SIGHUP')).toBe(false)
  await eventually(
    async () => survives(child, 'SIGUSR1'),
    (does) => does,
  )
  expect(survives(child, 'SIGHUP')).toBe(false)
  await child.exited
  folder.remove()
})

it('no way to Node that is shipped lets a SIGUSR1 open its debugger', async () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const launcher = readFileSync(join(ROOT, 'marquee'), 'utf8')
  const starts = [...Object.values(scripts), ...launcher.split('\n')].filter((line) =>
    /node\b.*(?:src\/main\.ts|"\$main")/.test(line),
  )
  expect(starts).toHaveLength(2)
  for (const line of starts) expect(line).toMatch(/node"?,? "?--disable-sigusr1/)
  const folder = new FilesDirectory({}, { events: '[]', venues: '[]' })
  const args = ['--disable-sigusr1', 'src/main.ts', 'serve', '--config', folder.configuration]
  const { child } = await untilListening(new Child(programOf('node'), args))
  child.signal('SIGUSR1')
  child.signal('SIGHUP')
  await child.line((line) => line.includes('"event":"reloaded"'))
  expect(child.stderr).toBe('')
  expect(await child.stop()).toBe(0)
  folder.remove()
})
