import { afterAll, beforeAll, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { Child, ROOT } from '../support/child.ts'
import { freePort } from '../support/free-port.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { untilListening } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'

let folder = ''
let program = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-executable-'))
  program = join(folder, 'marquee')
  const args = ['scripts/build-executable.ts', program]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
})
afterAll(() => rmSync(folder, { recursive: true }))

it('the executable has everything inside: version, sample, dashboard', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'marquee-elsewhere-'))
  const options = { cwd: elsewhere, env: { TMPDIR: elsewhere } }
  const version = new Child(program, ['--version'], options)
  expect([await version.exited, version.stdout.trim()]).toEqual([0, manifest.version])
  const check = new Child(program, ['check', '--json'], options)
  expect(await check.exited).toBe(0)
  expect(JSON.parse(check.stdout) as unknown).toMatchObject({ ok: true, events: 31 })
  // The sample was unpacked, and is cleared away.
  expect(readdirSync(elsewhere)).toEqual([])
  rmSync(elsewhere, { recursive: true })
})

it('the executable serves, is ready, shows its dashboard, and ends in order', async () => {
  const event = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
  const times = { Start: '2026-07-12T19:30:00Z', Finish: '2026-07-12T21:30:00Z' }
  const events = JSON.stringify([{ Id: event, ...times, ShowOnWeb: true }])
  const directory = new FilesDirectory({ operations: { port: await freePort() } }, { events, venues: '[]' })
  const { child, listening } = await untilListening(new Child(program, ['serve', '--config', directory.configuration]))
  expect((await fetch(listening.try ?? '')).status).toBe(200)
  for (const [path, part] of [
    ['', '<title>Marquee operations</title>'],
    ['dashboard.js', 'import'],
    ['metrics', 'marquee_ready 1'],
  ] as const) {
    expect((await askOperations(`${listening.operations ?? ''}${path}`))?.text).toContain(part)
  }
  expect(await new Child(program, ['ready', '--config', directory.configuration]).exited).toBe(0)
  expect(await child.stop()).toBe(0)
  directory.remove()
})
