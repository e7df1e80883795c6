import { afterAll, describe, expect, it } from 'bun:test'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { programOf, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { askOperations, sampleOf } from '../support/operations-client.ts'
import { RUNTIMES } from '../support/depth.ts'

const directories: FilesDirectory[] = []
afterAll(() => {
  for (const directory of directories) directory.remove()
})

async function configured(): Promise<{ configuration: string; operations: string; address: string }> {
  const [port, operationsPort] = [await freePort(), await freePort()]
  const settings = {
    listen: { port },
    operations: { port: operationsPort },
    log: { requests: true },
  }
  const directory = new FilesDirectory(settings, { events: '[]', venues: '[]' })
  directories.push(directory)
  const operations = `http://127.0.0.1:${operationsPort}`
  return { configuration: directory.configuration, operations, address: `http://127.0.0.1:${port}` }
}

/** Ready, and logging a line for each of these requests. */
async function lostLines(operations: string, address: string): Promise<number> {
  await eventually(
    () => askOperations(`${operations}/ready`),
    (reply) => reply?.status === 200,
  )
  for (let request = 0; request < 20; request++) await fetch(`${address}/api/events/x`)
  const metrics = await eventually(
    () => askOperations(`${operations}/metrics`),
    (reply) => (sampleOf(reply?.text ?? '', 'marquee_log_lines_dropped_total') ?? 0) > 0,
  )
  return (
    sampleOf(
      metrics?.text ?? '',
      'marquee_http_requests_total{route="/api/events/{id}",status="400",type="application/problem+json"}',
    ) ?? 0
  )
}

async function end(child: ChildProcess): Promise<unknown> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  return (await exited)[0]
}

describe.each(RUNTIMES)('the service on %s', (runtime) => {
  it('goes on when the disk its output is written to is full, counts the lost lines, and ends in order', async () => {
    const { configuration, operations, address } = await configured()
    const full = openSync('/dev/full', 'w')
    const args = ['src/main.ts', 'serve', '--config', configuration]
    const child = spawn(programOf(runtime), args, { cwd: ROOT, stdio: ['ignore', full, 'ignore'] })
    closeSync(full)
    expect(await lostLines(operations, address)).toBe(20)
    expect(await end(child)).toBe(0)
  })

  it('goes on when nobody reads its output any more', async () => {
    const { configuration, operations, address } = await configured()
    const args = ['src/main.ts', 'serve', '--config', configuration]
    const child = spawn(programOf(runtime), args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.destroy()
    expect(await lostLines(operations, address)).toBe(20)
    expect(await end(child)).toBe(0)
  })
})
