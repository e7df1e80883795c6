import { afterAll, expect, it } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import lock from '../../package-lock.json' with { type: 'json' }
import manifest from '../../package.json' with { type: 'json' }
import { commandLine } from '../../src/app/launcher.ts'
import { Child, ROOT } from '../support/child.ts'
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

it('./marquee without a Bun says what to do', async () => {
  for (const name of ['bun', 'marquee']) cpSync(join(ROOT, name), join(folder, name))
  const child = new Child(join(folder, 'marquee'), ['--version'])
  expect([await child.exited, child.stdout]).toEqual([1, ''])
  expect(child.stderr).toContain(`run \`npm ci\` in ${folder}`)
})

it('marquee.cmd names a Bun that `npm ci` brings on Windows, and what it runs', () => {
  const text = readFileSync(join(ROOT, 'marquee.cmd'), 'utf8').replaceAll('\\', '/')
  const [, bun = ''] = /%~dp0(node_modules\/@oven\/bun-windows-x64)\/bin\/bun\.exe/.exec(text) ?? []
  expect(Object.keys(lock.packages)).toContain(bun)
  expect(text).toContain('"%MARQUEE_BUN%" "%~dp0src/main.ts" %*')
})

it.each([
  ['in the checkout', '/opt/marquee', {}, './marquee check'],
  [
    'in the checkout through npm',
    '/srv',
    { INIT_CWD: '/opt/marquee', npm_lifecycle_event: 'start' },
    './marquee check',
  ],
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
  const line = commandLine(words, { cwd: '/', env: {} }, '/opt/my marquee/marquee')
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
