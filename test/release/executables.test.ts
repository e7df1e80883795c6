import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ZONE_DATA_VERSION } from '../../src/domain/zone-data.ts'
import manifest from '../../package.json' with { type: 'json' }
import { Child, ROOT } from '../support/child.ts'
import { npmSurroundings } from '../support/npm-surroundings.ts'

const folder = mkdtempSync(join(tmpdir(), 'marquee-executables-'))
const built = join(folder, 'built')

beforeAll(() => {
  const args = ['scripts/build-executables.ts', built]
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: npmSurroundings(folder),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
}, 900_000)
afterAll(() => rmSync(folder, { recursive: true }), 120_000)

/** How a program of each platform begins (ELF, Mach-O, PE), and the machine that its header names. */
const HEADERS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'linux-x64': (bytes) => isElf(bytes, 62),
  'linux-x64-musl': (bytes) => isElf(bytes, 62),
  'linux-aarch64': (bytes) => isElf(bytes, 183),
  'linux-aarch64-musl': (bytes) => isElf(bytes, 183),
  'darwin-x64': (bytes) => bytes.readUInt32LE(0) === 0xfeedfacf && bytes.readUInt32LE(4) === 0x01000007,
  'darwin-aarch64': (bytes) => bytes.readUInt32LE(0) === 0xfeedfacf && bytes.readUInt32LE(4) === 0x0100000c,
  'windows-x64': (bytes) => peMachine(bytes) === 0x8664,
  'windows-aarch64': (bytes) => peMachine(bytes) === 0xaa64,
}

function isElf(bytes: Buffer, machine: number): boolean {
  return bytes.readUInt32BE(0) === 0x7f454c46 && bytes.readUInt16LE(18) === machine
}

function peMachine(bytes: Buffer): number {
  return bytes.toString('latin1', 0, 2) === 'MZ' ? bytes.readUInt16LE(bytes.readUInt32LE(0x3c) + 4) : 0
}

describe('npm run executables', () => {
  it('builds one for each platform that package.json names a Bun for, and their checksums', () => {
    const platforms = Object.keys(manifest.optionalDependencies).filter((name) => name.startsWith('@oven/bun-'))
    expect(Object.keys(HEADERS).toSorted()).toEqual(platforms.map((name) => name.replace('@oven/bun-', '')).toSorted())
    const files = Object.keys(HEADERS).map(
      (name) => `marquee-${manifest.version}-${name}${name.startsWith('windows') ? '.exe' : ''}`,
    )
    expect(readdirSync(built).toSorted()).toEqual(['SHA256SUMS', ...files].toSorted())
    const checked = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: built, encoding: 'utf8' })
    expect([checked.status, checked.stdout.trim().split('\n').length]).toEqual([0, files.length])
  })

  it.each(Object.keys(HEADERS))('builds a program of %s', (platform) => {
    const name = readdirSync(built).find((file) => file.replace('.exe', '').endsWith(`-${platform}`))
    expect(HEADERS[platform]?.(readFileSync(join(built, name ?? '')))).toBe(true)
  })

  it('builds one that runs on this machine, with neither a checkout nor a file beside it', async () => {
    const architecture = process.arch === 'arm64' ? 'aarch64' : process.arch
    const program = join(built, `marquee-${manifest.version}-${process.platform}-${architecture}`)
    const empty = mkdtempSync(join(folder, 'empty-'))
    const child = new Child(program, ['check', '--json'], { cwd: empty, env: { PATH: '/nowhere' } })
    expect(await child.exited).toBe(0)
    expect(JSON.parse(child.stdout) as unknown).toMatchObject({ ok: true, events: 31, timeZoneData: ZONE_DATA_VERSION })
  })
})
