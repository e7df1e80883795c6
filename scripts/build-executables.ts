/**
 * Builds the executables of all platforms: `npm run executables [-- FOLDER [NAME…]]`, `dist` by default, named as in
 * `linux-x64-musl`. The Buns of other platforms are the packages of package-lock.json, fetched by npm and compared with
 * their digests. SHA256SUMS is written beside.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { writeChecksums } from './checksums.ts'
import { type LockedPackage, lockedPackages } from './lock-file.ts'

const ROOT = join(import.meta.dirname, '..')
const PREFIX = '@oven/bun-'
const [folder = join(ROOT, 'dist'), ...wanted] = process.argv.slice(2)
const target = resolve(folder)

const runtimes = lockedPackages(ROOT).filter(({ name }) => name.startsWith(PREFIX))
const platforms = runtimes.map(({ name }) => name.slice(PREFIX.length))
const unknown = wanted.filter((name) => !platforms.includes(name))
if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: not among ${platforms.join(', ')}`)

mkdirSync(target, { recursive: true })
const scratch = mkdtempSync(join(tmpdir(), 'marquee-executables-'))
try {
  for (const runtime of runtimes) {
    const platform = runtime.name.slice(PREFIX.length)
    if (wanted.length > 0 && !wanted.includes(platform)) continue
    const suffix = platform.startsWith('windows') ? '.exe' : ''
    const file = join(target, `marquee-${manifest.version}-${platform}${suffix}`)
    const build = [join(ROOT, 'scripts/build-executable.ts'), file]
    const bun = join(runtimeFolder(runtime), `bin/bun${suffix}`)
    run(process.execPath, [...build, '--target', `bun-${platform.replace('aarch64', 'arm64')}`, '--runtime', bun], ROOT)
    chmodSync(file, 0o755)
    console.log(`built ${file}`)
  }
  writeChecksums(target)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Where the package is: in node_modules if it fits this machine, else fetched. */
function runtimeFolder({ path, name, version, integrity }: LockedPackage): string {
  if (existsSync(join(ROOT, path))) return join(ROOT, path)
  const args = ['pack', '--json', '--pack-destination', scratch, `${name}@${version}`]
  const [packed] = JSON.parse(run('npm', args, scratch)) as readonly { filename: string; integrity: string }[]
  if (packed === undefined) throw new Error(`npm fetched no ${name}`)
  const tarball = join(scratch, packed.filename)
  const digest = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
  if (digest !== integrity) throw new Error(`${name} is not the package of package-lock.json: its digest is ${digest}`)
  const unpacked = mkdtempSync(join(scratch, 'bun-'))
  run('tar', ['-xzf', tarball, '-C', unpacked], scratch)
  rmSync(tarball)
  return join(unpacked, 'package')
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}
