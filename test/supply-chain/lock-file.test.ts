import { describe, expect, it } from 'bun:test'
import manifest from '../../package.json' with { type: 'json' }
import { lockedPackages } from '../../scripts/lock-file.ts'
import { ROOT } from '../support/child.ts'

const [project, ...packages] = lockedPackages(ROOT)

describe('the lock file', () => {
  it('has the SHA-512 of every package, those for other machines included', () => {
    const without = packages.filter(({ integrity }) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))
    expect(without.map(({ path }) => path)).toEqual([])
    expect(packages.length).toBeGreaterThan(100)
  })

  it('names no package that runs a script when it is installed: what runs then could fetch what has no digest', () => {
    expect(packages.filter(({ hasInstallScript }) => hasInstallScript === true).map(({ path }) => path)).toEqual([])
  })

  it('names no registry, so that npm asks the one it is set to', () => {
    expect(packages.filter((one) => 'resolved' in one).map(({ path }) => path)).toEqual([])
  })

  const windows = ['windows-aarch64', 'windows-x64']
  const linux = ['linux-aarch64', 'linux-aarch64-musl', 'linux-x64', 'linux-x64-musl']
  it.each([
    ['@oven/bun-', ['darwin-aarch64', 'darwin-x64', ...linux, ...windows]],
    ['node-', ['bin-darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win-x64']],
  ])('pins the packages of %s… themselves, all of one version', (prefix, platforms) => {
    const names = platforms.map((platform) => `${prefix}${platform}`)
    const pinned = packages.filter(({ path }) => names.includes(path.replace('node_modules/', '')))
    expect(pinned.length).toBe(names.length)
    expect(new Set(pinned.map(({ version }) => version)).size).toBe(1)
    const asked = Object.entries(project?.optionalDependencies ?? {}).filter(([name]) => names.includes(name))
    expect(asked.map(([, version]) => version)).toEqual(pinned.map(({ version }) => version))
  })

  it('asks for no newer Node than package.json says: npm would warn of it', () => {
    const least = manifest.engines.node.split(' || ').map((range) => range.replace(/^\D+/, ''))
    const full = least.map((version) => [...version.split('.'), '0', '0'].slice(0, 3).join('.'))
    expect(full).toEqual(['20.19.0', '22.13.0', '24.0.0'])
    const newer = packages.flatMap(({ path, engines }) =>
      full.filter((version) => !Bun.semver.satisfies(version, engines?.node ?? '*')).map((one) => `${path}: ${one}`),
    )
    expect(newer).toEqual([])
  })
})
