import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { ZONE_DATA_VERSION } from '../../src/domain/zone-data.ts'
import manifest from '../../package.json' with { type: 'json' }
import { Child, ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { untilListening } from '../support/marquee-process.ts'
import { type SheetCell, serial, workbook } from '../support/workbook-file.ts'
import { npmSurroundings } from '../support/npm-surroundings.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'marquee-package-')))
const empty = join(folder, 'empty')
const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`)
const env = npmSurroundings(folder)
const inside = join(empty, 'node_modules', manifest.name)
const program = join(empty, 'node_modules/.bin/marquee')
const onNode = { MARQUEE_RUNTIME: 'node', PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}` }

async function run(
  words: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Child> {
  const [command = '', ...args] = words
  const child = new Child(command, args, { cwd: empty, ...options })
  const status = await child.exited
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${child.stdout}${child.stderr}`)
  return child
}

beforeAll(async () => {
  mkdirSync(empty, { recursive: true })
  await run([process.execPath, 'scripts/build-package.ts', folder], { cwd: ROOT, env })
  await run(['npm', 'install', '--no-audit', '--no-fund', tarball], { env })
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true }), 120_000)

describe('the package', () => {
  it('holds what runs, what a person reads, and nothing else', () => {
    const files = globSync('**/*', { cwd: inside, exclude: (name) => name === 'node_modules' })
    // Types for authors of clients and of connectors.
    expect(files.filter((name) => name.endsWith('.d.ts')).toSorted()).toEqual([
      'docs/marquee.d.ts',
      'lib/crm/connector/marquee-connector.d.ts',
    ])
    expect(files).toContain('docs/openapi.json')
    const sources = files.filter((name) => name.startsWith('lib/') && !name.endsWith('.d.ts'))
    const kinds = new Set(sources.map((name) => /(\.\w+)*$/.exec(name)?.[0]))
    expect([...kinds].filter((kind) => /\.ts$|test/.test(kind ?? ''))).toEqual([])
    const top = new Set(files.map((name) => name.split('/')[0] ?? ''))
    expect([...top].toSorted()).toEqual(
      [
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'SECURITY.md',
        'bun',
        'deploy',
        'docs',
        'lib',
        'marquee',
        'marquee.cmd',
      ].concat(['package.json', 'sample']),
    )
    expect(files.filter((name) => /^(?:test|bench|scripts|src)\//.test(name))).toEqual([])
  })

  it('has a source map with its source beside each module', () => {
    const modules = globSync('lib/**/*.js', { cwd: inside }).filter((name) => !name.includes('/page/'))
    expect(modules.length).toBeGreaterThan(250)
    for (const name of modules) {
      const map = JSON.parse(readFileSync(join(inside, `${name}.map`), 'utf8')) as { sourcesContent?: string[] }
      expect([name, map.sourcesContent?.length]).toEqual([name, 1])
    }
  })

  it('needs nothing of a checkout: no tools, no scripts, one runtime', () => {
    const packed = JSON.parse(readFileSync(join(inside, 'package.json'), 'utf8')) as Record<string, unknown>
    expect([packed['devDependencies'], packed['scripts'], packed['private']]).toEqual([undefined, undefined, undefined])
    const runtimes = globSync('node_modules/{@oven/bun-*,node-*}', { cwd: empty })
    expect(runtimes.length).toBe(1)
    const installed = globSync('node_modules/{*,@*/*}/package.json', { cwd: empty })
    expect(installed.length).toBeLessThan(40)
  })

  it('links to nothing that it leaves out', () => {
    const dangling = globSync('**/*.md', { cwd: inside, exclude: (name) => name === 'node_modules' }).flatMap(
      (name) => {
        const page = readFileSync(join(inside, name), 'utf8')
        const links = Array.from(page.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g), ([, link = '']) => link)
        return links
          .map((link) => normalize(join(dirname(name), link)))
          .filter((path) => !existsSync(join(inside, path)))
      },
    )
    expect([...new Set(dangling)]).toEqual([])
  })
})

describe('npm install of the tarball in an empty folder', () => {
  it.each([
    ['Bun', {}],
    ['Node', onNode],
  ])('brings check, which tells of the sample, on %s', async (_, surroundings) => {
    const { stdout } = await run([program, 'check', '--json'], { env: surroundings })
    expect(JSON.parse(stdout) as unknown).toMatchObject({ ok: true, events: 31, timeZoneData: ZONE_DATA_VERSION })
  })

  it.each([
    ['Bun', {}],
    ['Node', onNode],
  ])(
    'brings serve, to which every signal arrives, on %s',
    async (runtime, surroundings) => {
      const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
      const serve = ['serve', '--config', directory.configuration]
      const { child, listening } = await untilListening(new Child(program, serve, { cwd: empty, env: surroundings }))
      expect(child.stdout).toContain(`"runtime":"${runtime} `)
      expect((await fetch(`${listening.address}api/openapi.json`)).status).toBe(200)
      // A signal that ends a process that does not know it.
      child.signal('SIGUSR1')
      directory.configure({ log: { requests: true } })
      child.signal('SIGHUP')
      expect(await child.line((line) => line.includes('reload'))).not.toBeNull()
      expect(await child.stop()).toBe(0)
      directory.remove()
    },
    60_000,
  )

  it('lies where the systemd unit looks for it: npm install --prefix /opt/marquee', () => {
    const unit = readFileSync(join(inside, 'deploy/systemd/marquee.service'), 'utf8')
    const paths = unit.match(/(?<=\/opt\/marquee\/)node_modules[^\s]+/g) ?? []
    expect(paths.filter((path) => !existsSync(join(empty, path)))).toEqual([])
    expect(paths).toContain('node_modules/.bin/marquee')
  })

  it('brings a command that says by which words it is called again', async () => {
    const { stdout } = await run([program, 'init'])
    expect(stdout).toContain('`./node_modules/.bin/marquee check`')
    const [first = ''] = readFileSync(join(empty, 'marquee.yaml'), 'utf8').split('\n')
    expect(existsSync(join(empty, first.replace('# yaml-language-server: $schema=', '')))).toBe(true)
    rmSync(join(empty, 'marquee.yaml'))
  })

  it('brings the types of a connector, as marquee/connector', async () => {
    const connector = (row: string): string => `import type { Connector } from '${manifest.name}/connector'
async function* full() { yield [${row}] }
export default { api: 2, events: { fields: { Id: 'Nr' }, full }, venues: { fields: { Id: 'Nr' }, full } } satisfies Connector\n`
    writeFileSync(join(empty, 'right.mts'), connector(`{ Nr: 1, Name: 'Gala' }`))
    writeFileSync(join(empty, 'wrong.mts'), connector('{ Nr: 1, Name: () => 1 }'))
    const compile = async (name: string): Promise<string> => {
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--types', '']
      const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
      const child = new Child(process.execPath, [compiler, ...options, name], { cwd: empty })
      await child.exited
      return child.stdout
    }
    expect(await compile('right.mts')).toBe('')
    expect(await compile('wrong.mts')).toContain('wrong.mts(3,')
  })

  it('names the sources in the stack of a bug, on Node', async () => {
    writeFileSync(
      join(empty, 'bug.mjs'),
      `const { parseGuid } = await import('./node_modules/${manifest.name}/lib/domain/guid.js')\nparseGuid(null)\n`,
    )
    const child = new Child('node', ['--enable-source-maps', 'bug.mjs'], { cwd: empty, env: onNode })
    expect(await child.exited).toBe(1)
    expect(child.stderr).toMatch(/src\/domain\/guid\.ts:\d+:\d+/)
  })

  it.each(['nested', 'linked'])(
    'finds its Bun also in a tree that is %s',
    async (strategy) => {
      const tree = join(folder, strategy)
      mkdirSync(tree)
      await run(['npm', 'install', '--no-audit', '--no-fund', `--install-strategy=${strategy}`, tarball], {
        cwd: tree,
        env,
      })
      const { stdout } = await run([join(tree, 'node_modules/.bin/marquee'), '--version'], { cwd: '/' })
      expect(stdout).toBe(`${manifest.version}\n`)
    },
    120_000,
  )

  it('finds its Bun where npm installs programs for all users', async () => {
    const prefix = join(folder, 'global')
    await run(['npm', 'install', '--no-audit', '--no-fund', '--global', '--prefix', prefix, tarball], { env })
    expect((await run([join(prefix, 'bin/marquee'), '--version'], { cwd: '/' })).stdout).toBe(`${manifest.version}\n`)
  }, 120_000)
})

it('a spreadsheet is served by what the README says', async () => {
  const readme = readFileSync(join(inside, 'README.md'), 'utf8')
  expect(readme).toContain(`npm install ./${manifest.name}-${manifest.version}.tgz`)
  const rows: SheetCell[][] = [
    ['Nr', 'Title', 'Begins', 'Ends', 'On the web', 'Price', 'Places', 'Left'],
    [1, 'Rope & Reel', serial(49_804.75, 'dateTime'), serial(49_804.875, 'dateTime'), 'yes', 18.5, 320, 58],
  ]
  writeFileSync(join(empty, 'Venues.csv'), 'Id,Name\n1,Lantern Hall\n')
  writeFileSync(join(empty, 'Events.xlsx'), workbook([{ name: 'Events', rows }]))
  const [, init = '', check = '', serve = ''] =
    /^(\.\/marquee init files .*)\n(\.\/marquee check.*)\n(\.\/marquee serve.*)$/m.exec(readme) ?? []
  const words = (line: string): string[] => [program, ...line.replace(/ +#.*/, '').split(' ').slice(1)]
  await run(words(init))
  const text = readFileSync(join(empty, 'marquee.yaml'), 'utf8')
  writeFileSync(join(empty, 'marquee.yaml'), text.replace("showOnWeb: '?'", 'showOnWeb: null'))
  expect((await run(words(check))).stdout).toContain('1 event and 1 venue would be served')
  const ports = ['--port', '0', '--operations-port', '0']
  const { child, listening } = await untilListening(
    new Child(program, [...words(serve).slice(1), ...ports], { cwd: empty }),
  )
  const list = (await (await fetch(`${listening.address}api/events`)).json()) as { Name: string }[]
  expect(JSON.stringify(list)).toContain('Rope & Reel')
  await child.stop()
}, 60_000)
