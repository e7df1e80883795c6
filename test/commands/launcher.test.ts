import { afterAll, expect, it } from 'bun:test'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import lock from '../../package-lock.json' with { type: 'json' }
import manifest from '../../package.json' with { type: 'json' }
import { commandLine } from '../../src/app/command-context.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { untilListening } from '../support/marquee-process.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'marquee launcher-')))
afterAll(() => rmSync(folder, { recursive: true }))

mkdirSync(join(folder, 'bin'))
symlinkSync(join(ROOT, 'marquee'), join(folder, 'direct'))
symlinkSync('../direct', join(folder, 'bin/through'))

it.each([
  ['in the checkout', ROOT, './marquee'],
  ['by its path from elsewhere', folder, join(ROOT, 'marquee')],
  ['through a symbolic link', folder, './direct'],
  ['through a relative link to a link', folder, 'bin/through'],
])('./marquee runs %s', async (_, cwd, program) => {
  const child = new Child(program, ['--version'], { cwd })
  expect([await child.exited, child.stdout, child.stderr]).toEqual([0, `${manifest.version}\n`, ''])
})

it('./marquee runs as a command of the PATH, and as an argument of sh', async () => {
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` }
  expect(await new Child('through', ['--version'], { cwd: '/', env }).exited).toBe(0)
  expect(await new Child('sh', ['marquee', '--version']).exited).toBe(0)
})

it('./marquee becomes the service: a signal to it arrives, a relative --config is looked for where the person stands', async () => {
  const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
  const args = ['serve', '--config', 'marquee.yaml']
  const { child } = await untilListening(new Child(join(folder, 'bin/through'), args, { cwd: directory.path }))
  expect(await child.stop()).toBe(0)
  directory.remove()
})

it('./marquee hands arguments on as they are, and the exit status back', async () => {
  const child = new Child(join(ROOT, 'marquee'), ['check', '--config', 'no such * file'])
  expect(await child.exited).toBe(2)
  expect(child.stderr).toContain('no such * file')
})

it('a command on Node ends in the process that ran it, so that Node keeps what it compiled', async () => {
  const kept = mkdtempSync(join(folder, 'compiled-'))
  const child = new Child(programOf('node'), ['src/main.ts', 'check'], { env: { NODE_COMPILE_CACHE: kept } })
  expect(await child.exited).toBe(0)
  expect(child.stdout).toContain('31 events and 8 venues')
  expect(readdirSync(kept, { recursive: true }).length).toBeGreaterThan(100)
})

it('./marquee without a Bun says what to do', async () => {
  for (const name of ['bun', 'marquee']) cpSync(join(ROOT, name), join(folder, name))
  const child = new Child(join(folder, 'marquee'), ['--version'])
  expect([await child.exited, child.stdout]).toEqual([1, ''])
  expect(child.stderr).toContain(`run \`npm ci\` in ${folder}`)
})

it.each([
  ['is too old', 'v22.21.1', (node: string) => `${node} is 22.21.1`],
  ['does not start', null, () => 'there is no node on the PATH'],
])('./marquee with MARQUEE_RUNTIME=node says what it needs and what it found if Node %s', async (_, version, found) => {
  const bin = mkdtempSync(join(folder, 'node-'))
  const node = join(bin, 'node')
  writeFileSync(node, version === null ? '#!/bin/sh\nexit 127\n' : `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
  const env = { MARQUEE_RUNTIME: 'node', PATH: `${bin}:/usr/bin:/bin` }
  const child = new Child(join(ROOT, 'marquee'), ['--version'], { env })
  expect([await child.exited, child.stdout]).toEqual([1, ''])
  const remedy = 'install it, or unset MARQUEE_RUNTIME to run on Bun.'
  expect(child.stderr).toBe(`MARQUEE_RUNTIME=node needs Node 24 or later, but ${found(node)}: ${remedy}\n`)
})

it('./marquee runs on the Node of the PATH with MARQUEE_RUNTIME=node', async () => {
  const env = { MARQUEE_RUNTIME: 'node', PATH: `${join(ROOT, 'node_modules/.bin')}:/usr/bin:/bin` }
  const child = new Child(join(ROOT, 'marquee'), ['--version'], { env })
  expect([await child.exited, child.stdout, child.stderr]).toEqual([0, `${manifest.version}\n`, ''])
})

it('marquee.cmd names a Bun that npm brings on Windows, and what it runs', () => {
  const text = readFileSync(join(ROOT, 'marquee.cmd'), 'utf8').replaceAll('\\', '/')
  const [, bun = ''] = /(@oven\/bun-windows-%MARQUEE_MACHINE%)\/bin\/bun\.exe/.exec(text) ?? []
  const machines = Array.from(text.matchAll(/"MARQUEE_MACHINE=(\w+)"/g), ([, machine = '']) => machine)
  expect(machines).toEqual(['x64', 'aarch64'])
  for (const machine of machines) {
    const name = bun.replace('%MARQUEE_MACHINE%', machine)
    expect(Object.keys(lock.packages)).toContain(`node_modules/${name}`)
  }
  for (const main of ['src/main.ts', 'lib/main.js']) expect(text).toContain(`"MARQUEE_MAIN=%~dp0${main}"`)
  expect(text).toContain('"%MARQUEE_BUN%" "%MARQUEE_MAIN%" %*')
})

/** The rules of both launchers, as their texts have them. Nothing here runs marquee.cmd: that needs Windows. */
interface LauncherRules {
  /** What Node is started with, before Marquee's own arguments. */
  readonly nodeFlags: string | undefined
  /** The condition for Node. */
  readonly runsOnNode: string | undefined
  readonly leastNode: string | undefined
  /** What it runs: the first that exists. */
  readonly mains: string[]
  /** What it says if the Node of the PATH will not do. */
  readonly sentences: string[]
}

it('marquee.cmd has the rules of ./marquee: the same runtime, flags, files and sentences', () => {
  const posix = readFileSync(join(ROOT, 'marquee'), 'utf8')
  const rules: LauncherRules = {
    nodeFlags: /^ *exec node (.*) "\$main" "\$@"$/m.exec(posix)?.[1],
    runsOnNode: /^if \[ "\$(MARQUEE_RUNTIME)" = (node) \]; then$/m.exec(posix)?.slice(1).join('='),
    leastNode: / -ge (\d+) \]/.exec(posix)?.[1],
    mains: Array.from(posix.matchAll(/main=\$here\/(\S+)/g), ([, main = '']) => main),
    sentences: sentencesOf(posix.replace('$found', 'there is no node on the PATH')),
  }
  const cmd = readFileSync(join(ROOT, 'marquee.cmd'), 'utf8').replaceAll('\r\n', '\n')
  const remedy = /"MARQUEE_ELSE=(.*)"$/m.exec(cmd)?.[1] ?? ''
  const sentences = sentencesOf(cmd.replaceAll('%MARQUEE_ELSE%', remedy))
  expect({
    nodeFlags: / node (.*) "%MARQUEE_MAIN%" %\*/.exec(cmd)?.[1],
    runsOnNode: /^if "%(MARQUEE_RUNTIME)%"=="(node)" node /m.exec(cmd)?.slice(1).join('='),
    leastNode: / LSS (\d+) /.exec(cmd)?.[1],
    mains: Array.from(cmd.matchAll(/"MARQUEE_MAIN=%~dp0(\S+)"/g), ([, main = '']) => main.replace('\\', '/')),
    sentences: sentences.slice(0, 1),
  }).toEqual(rules)
  const [without = '', old] = sentences
  expect(old).toBe(without.replace('there is no node on the PATH', 'the node on the PATH is %MARQUEE_NODE%'))
  // The comparison of cmd.exe minds case only without /i, as that of sh always does.
  expect(cmd.match(/if \/i .*MARQUEE_RUNTIME/)).toBeNull()
})

it('marquee.cmd passes arguments and the exit status on: a runtime is the last thing that it starts', () => {
  const bytes = readFileSync(join(ROOT, 'marquee.cmd'), 'utf8')
  // cmd.exe misreads some files with Unix line ends.
  expect(bytes.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  const lines = bytes.split('\r\n').filter((line) => line !== '' && !line.startsWith('rem '))
  const starts = lines.filter((line) => line.includes('%*'))
  expect(starts.map((line) => line.replace(/^.*" %\*/, ''))).toEqual([' & exit /b', ''])
  expect(lines.at(-1)).toBe('"%MARQUEE_BUN%" "%MARQUEE_MAIN%" %*')
  // Within a block, an argument such as C:\copy(1)\marquee.yaml would end it.
  let depth = 0
  for (const line of lines) {
    if (line.includes('%*')) expect(depth).toBe(0)
    depth += Number(line.endsWith('(')) - Number(line.startsWith(')'))
  }
  expect(depth).toBe(0)
  for (const line of lines.filter((each) => each.includes(' echo '))) expect(line).toEndWith(' 1>&2 & exit /b 1')
  for (const line of lines) expect([line, (line.match(/"/g) ?? []).length % 2]).toEqual([line, 0])
})

function sentencesOf(text: string): string[] {
  return Array.from(
    text.matchAll(/echo "?(MARQUEE_RUNTIME=node needs .*?\.)(?:"| 1>&2)/g),
    ([, sentence = '']) => sentence,
  )
}

/** Programs that say where they are, in place of Buns; and of the machine what `uname` and `ldd` would say. */
function machineOf(system: string, processor: string, libc: string, buns: readonly string[]): (at: string) => Child {
  const root = mkdtempSync(join(folder, 'machine-'))
  const program = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  program('bin/uname', `case $1 in -s) echo ${system} ;; *) echo ${processor} ;; esac`)
  program('bin/ldd', `echo '${libc}' >&2`)
  for (const bun of buns) program(bun, `echo ${bun}`)
  return (at) => {
    mkdirSync(join(root, at), { recursive: true })
    cpSync(join(ROOT, 'bun'), join(root, at, 'bun'))
    return new Child(join(root, at, 'bun'), [], { env: { PATH: `${join(root, 'bin')}:/usr/bin:/bin` } })
  }
}

it.each([
  ['in its own node_modules', 'app/node_modules/marquee', 'app/node_modules/marquee/node_modules'],
  ['hoisted beside it', 'app/node_modules/marquee', 'app/node_modules'],
  ['hoisted beside its scope', 'app/node_modules/@scope/marquee', 'app/node_modules'],
  ['hoisted by a workspace above', 'all/app/node_modules/marquee', 'all/node_modules'],
  ['in a checkout', 'marquee', 'marquee/node_modules'],
])('./bun finds the one Bun that was installed %s', async (_, at, modules) => {
  const bun = `${modules}/@oven/bun-linux-aarch64/bin/bun`
  const child = machineOf('Linux', 'aarch64', 'glibc', [bun])(at)
  expect([await child.exited, child.stdout, child.stderr]).toEqual([0, `${bun}\n`, ''])
})

it.each([
  ['Linux', 'x86_64', 'ldd (Debian GLIBC 2.41) 2.41', 'linux-x64'],
  ['Linux', 'aarch64', 'ldd (Debian GLIBC 2.41) 2.41', 'linux-aarch64'],
  ['Linux', 'x86_64', 'musl libc (x86_64)', 'linux-x64-musl'],
  ['Linux', 'aarch64', 'musl libc (aarch64)', 'linux-aarch64-musl'],
  ['Darwin', 'arm64', 'ldd: not found', 'darwin-aarch64'],
  ['Darwin', 'x86_64', 'ldd: not found', 'darwin-x64'],
  ['MINGW64_NT-10.0', 'x86_64', 'ldd (cygwin) 3.4', 'windows-x64'],
])('./bun takes of several the one for %s on %s with %s', async (system, processor, libc, wanted) => {
  const packages = Object.keys(manifest.optionalDependencies).filter((name) => name.startsWith('@oven/'))
  const buns = packages.map((name) => `node_modules/${name}/bin/bun${name.includes('windows') ? '.exe' : ''}`)
  const child = machineOf(system, processor, libc, buns)('.')
  const ended = await child.exited
  expect([ended, child.stdout.replace('.exe', '')]).toEqual([0, `node_modules/@oven/bun-${wanted}/bin/bun\n`])
})

it.each([
  ['in the checkout', '/opt/marquee', {}, './marquee check'],
  [
    'in the checkout through npm',
    '/srv',
    { INIT_CWD: '/opt/marquee', npm_lifecycle_event: 'start' },
    './marquee check',
  ],
  ['below the folder', '/opt', {}, './marquee/marquee check'],
  ['elsewhere', '/srv', {}, '/opt/marquee/marquee check'],
  [
    'elsewhere, through npm',
    '/opt/marquee',
    { INIT_CWD: '/srv', npm_lifecycle_event: 'start' },
    '/opt/marquee/marquee check',
  ],
])('a message names a command line that works %s', (_, cwd, env, line) => {
  expect(commandLine(['check'], { cwd, env }, '/opt/marquee/marquee')).toBe(line)
})

it('a message quotes words that a shell would take apart', () => {
  const words = ['check', '--config', "it's mine.yaml"]
  const line = commandLine(words, { cwd: '/srv', env: {} }, '/opt/my marquee/marquee')
  const said = spawnSync('sh', ['-c', `printf '%s|' ${line}`], { encoding: 'utf8' }).stdout
  expect(said).toBe(`/opt/my marquee/marquee|${words.join('|')}|`)
})

/** `npx marquee` outside a checkout runs a stranger's package; `marquee` alone is nothing that a shell finds. */
const MISNAMED = /npx marquee|(?:`|\$ |')marquee (?:serve|check|explain|init|accept|ready|compare|--help)/

it('every page and every message names the launcher, ./marquee', () => {
  const misnamed = ['README.md', 'CONTRIBUTING.md', 'docs', 'src', 'deploy']
    .flatMap((place) =>
      place.endsWith('.md')
        ? [place]
        : readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' }).map((name) => join(place, name)),
    )
    .filter((name) => /\.(?:md|ts|js|html|svg|ya?ml|json|service)$/.test(name) && !name.includes('decisions'))
    .flatMap((name) =>
      readFileSync(join(ROOT, name), 'utf8')
        .split('\n')
        .flatMap((line, index) => (MISNAMED.test(line) ? [`${name}:${index + 1}: ${line.trim()}`] : [])),
    )
  expect(misnamed).toEqual([])
})
