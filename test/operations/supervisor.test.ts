import { afterEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, programOf } from '../support/child.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { installedProgram } from '../support/installed-program.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'
import { runCommand } from '../commands/run-command.ts'

const HAS_NOTIFY = installedProgram('systemd-notify') !== null
const WATCHDOG_MS = 900

/** Prints what arrives at a datagram socket, which no runtime can open: systemd's side. */
const RECEIVER = String.raw`use Socket; $| = 1; my $name = $ARGV[0]; $name =~ s/^@/\0/;
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0); bind($socket, pack_sockaddr_un($name)) or die $!;
print "open\n"; while (defined recv($socket, my $text, 4096, 0)) { print "$text\n" }`

const directory = new FilesDirectory({ operations: { port: 0 } }, { events: '[]', venues: '[]' })
const folder = mkdtempSync(join(tmpdir(), 'marquee-notify-'))
let receiver: Child | null = null
let running: MarqueeProcess | null = null

afterEach(async () => {
  running?.child.signal('SIGCONT')
  await running?.child.stop()
  await receiver?.stop()
})

async function receive(address: string): Promise<{ count: (message: string) => number }> {
  const child = new Child('perl', ['-e', RECEIVER, address])
  receiver = child
  if ((await child.line((line) => line === 'open')) === null) throw new Error(child.stderr)
  return { count: (message) => child.stdout.split('\n').filter((line) => line === message).length }
}

describe.skipIf(!HAS_NOTIFY).each(BOTH_RUNTIMES)('under systemd on %s', (runtime) => {
  it.each([
    ['a socket in the file system', join(folder, runtime)],
    ['an abstract socket', `@marquee-${runtime}-${process.pid}`],
  ])('tells it through %s that it is ready, runs, and stops', async (_, address) => {
    const { count } = await receive(address)
    const env = { NOTIFY_SOCKET: address, WATCHDOG_USEC: String(WATCHDOG_MS * 1000) }
    running = await serve(runtime, directory.configuration, env)
    await eventually(
      async () => count('WATCHDOG=1'),
      (pings) => pings >= 3,
    )
    expect([count('READY=1'), count('STOPPING=1')]).toEqual([1, 0])
    expect(await running.child.stop()).toBe(0)
    await eventually(
      async () => count('STOPPING=1'),
      (messages) => messages === 1,
    )
  })

  it('stops feeding the watchdog while it hangs, and the command live says so', async () => {
    const address = join(folder, `${runtime}-hung`)
    const { count } = await receive(address)
    const env = { NOTIFY_SOCKET: address, WATCHDOG_USEC: String(WATCHDOG_MS * 1000) }
    running = await serve(runtime, directory.configuration, env)
    const operationsPort = new URL(running.listening.operations ?? '').port
    const live = () =>
      runCommand(['live', '--config', directory.configuration, '--operations-port', operationsPort], { runtime })
    expect(await live()).toEqual({ status: 0, stdout: 'live\n', stderr: '' })
    await eventually(
      async () => count('WATCHDOG=1'),
      (pings) => pings >= 1,
    )
    running.child.signal('SIGSTOP')
    const { status, stderr } = await live()
    expect(status).toBe(1)
    expect(stderr).toContain('not live: no response within 5 s')
    const before = count('WATCHDOG=1')
    await live()
    expect(count('WATCHDOG=1')).toBe(before)
    running.child.signal('SIGCONT')
    await eventually(
      async () => count('WATCHDOG=1'),
      (pings) => pings > before,
    )
  }, 40_000)

  it('feeds no watchdog that watches another process, and warns if systemd cannot be told', async () => {
    const address = join(folder, `${runtime}-other`)
    const { count } = await receive(address)
    const watched = { NOTIFY_SOCKET: address, WATCHDOG_USEC: '3000', WATCHDOG_PID: '1' }
    running = await serve(runtime, directory.configuration, watched)
    await eventually(
      async () => count('READY=1'),
      (messages) => messages === 1,
    )
    await running.child.stop()
    expect(count('WATCHDOG=1')).toBe(0)
    const child = new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', directory.configuration], {
      env: { NOTIFY_SOCKET: join(folder, 'nobody'), PATH: '/nonexistent' },
    })
    await child.line((line) => line.includes('"listening"'))
    await eventually(
      async () => child.stderr,
      (text) => text.includes('warning: systemd may restart this service, because it cannot be told that it runs'),
    )
    expect(await child.stop()).toBe(0)
  })
})

process.on('exit', () => {
  directory.remove()
  rmSync(folder, { recursive: true })
})
