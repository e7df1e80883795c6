import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, programOf, ROOT, type Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { installedProgram } from '../support/installed-program.ts'
import { untilListening } from '../support/marquee-process.ts'
import { npmSurroundings } from '../support/npm-surroundings.ts'

/** What the images are based on, as FROM names it. */
const DEBIAN = 'docker.io/library/debian:bookworm-slim'
const NODE = 'docker.io/library/node:24-bookworm-slim'
/** Beyond the base. Node without its symbols is 116 MB, Bun 103. */
const MOST_MB = { bun: 160, node: 160 }
const BUILD_MS = 600_000

const LACKING = [
  ...['buildah', 'mmdebstrap'].filter((name) => installedProgram(name) === null),
  ...(process.getuid?.() === 0 ? [] : ['the right to be root']),
]
if (LACKING.length > 0) console.warn(`SKIPPED, for this needs ${LACKING.join(', ')}: the images are built and run`)

const folder = mkdtempSync(join(tmpdir(), 'marquee-images-'))
const GLOBAL = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
const env = { ...npmSurroundings(folder), BUILDAH_ISOLATION: 'chroot' }

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, env, encoding: 'utf8', maxBuffer: 1e8 })
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stdout.slice(-2000)}${stderr.slice(-2000)}`)
  return stdout.trim()
}

function buildah(...args: readonly string[]): string {
  return run('buildah', [...GLOBAL, ...args])
}

/** Makes the bases from Debian's packages: registries of images are not asked. */
function makeBases(): void {
  const tar = join(folder, 'base.tar')
  run('mmdebstrap', ['--variant=minbase', '--mode=root', 'bookworm', tar])
  const debian = buildah('from', 'scratch')
  buildah('add', debian, tar, '/')
  buildah('commit', '--format', 'docker', debian, DEBIAN)
  rmSync(tar)
  const node = buildah('from', '--pull-never', DEBIAN)
  buildah('run', node, '--', 'sh', '-c', 'apt-get update && apt-get install --yes --no-install-recommends libatomic1')
  buildah('copy', node, realpathSync(programOf('node')), '/usr/local/bin/node')
  buildah('copy', node, join(realpathSync(installedProgram('npm') ?? ''), '../..'), '/usr/local/lib/node_modules/npm')
  buildah('run', node, '--', 'ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm')
  // How the registry is reached is a matter of the machine.
  const { stdout: ofNpm } = spawnSync('npm', ['config', 'get', 'cafile'], { encoding: 'utf8' })
  const trusted = [process.env['NODE_EXTRA_CA_CERTS'] ?? '', ofNpm.trim()].find((path) => existsSync(path)) ?? ''
  const settings = [`registry=${run('npm', ['config', 'get', 'registry'])}`]
  if (trusted !== '') {
    buildah('copy', node, trusted, '/usr/local/etc/ca.pem')
    settings.push('cafile=/usr/local/etc/ca.pem')
  }
  const npmrc = join(folder, 'npmrc')
  writeFileSync(npmrc, `${settings.join('\n')}\n`)
  buildah('copy', node, npmrc, '/usr/local/etc/npmrc')
  buildah('commit', '--format', 'docker', node, NODE)
}

interface Image {
  readonly User: string
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly Env: readonly string[]
  readonly ExposedPorts: object
  readonly StopSignal: string
  readonly Healthcheck: { readonly Test: readonly string[]; readonly Interval: number; readonly Timeout: number }
}

function megabytesOf(root: string): number {
  return Number(/^\d+/.exec(run('du', ['--summarize', '--one-file-system', '--block-size=1', root]))?.[0]) / 1e6
}

/** The files that were written since, by anybody, but for what the builder itself binds into a container. */
function writtenSince(root: string, marker: string): readonly string[] {
  const found = run('find', [
    root,
    '-xdev',
    '-newer',
    marker,
    '(',
    '-type',
    'f',
    '-o',
    '-type',
    'd',
    ')',
    '-printf',
    '/%P\n',
  ])
  const bound = /^\/(?:$|proc|sys|dev|run|etc$|etc\/(?:hosts|hostname|resolv\.conf)$)/
  return found.split('\n').filter((path) => path !== '' && !bound.test(path))
}

/** The last of the processes that the builder starts one from another: the service itself. */
function serviceBelow(pid: number): number {
  const child = readdirSync('/proc').find((name) => /^\d+$/.test(name) && parentOf(name) === pid)
  return child === undefined ? pid : serviceBelow(Number(child))
}

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    // It has ended meanwhile.
    return Number.NaN
  }
}

describe.skipIf(LACKING.length > 0)('the images', () => {
  let baseMb = 0
  beforeAll(() => {
    makeBases()
    const base = buildah('from', '--pull-never', DEBIAN)
    baseMb = megabytesOf(buildah('mount', base))
  }, BUILD_MS)
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  }, 300_000)

  describe.each(['bun', 'node'] as Runtime[])('of %s', (runtime) => {
    let image: Image
    let container = ''
    let root = ''
    beforeAll(() => {
      const file = join(ROOT, `deploy/container/Containerfile.${runtime}`)
      buildah('build', '--pull-never', '--format', 'docker', '--file', file, '--tag', `marquee-${runtime}`, ROOT)
      const told = JSON.parse(buildah('inspect', '--type', 'image', `marquee-${runtime}`)) as {
        readonly Docker: { readonly config: Image }
      }
      image = told.Docker.config
      container = buildah('from', '--pull-never', `marquee-${runtime}`)
      root = realpathSync(buildah('mount', container))
    }, BUILD_MS)

    it('has the user, the ports, the signal and the health check that compose and Kubernetes rely on', () => {
      expect(image).toMatchObject({ User: '10001:10001', Cmd: ['serve'], StopSignal: 'SIGTERM' })
      expect(Object.keys(image.ExposedPorts).toSorted()).toEqual(['8080/tcp', '8081/tcp'])
      expect(image.Env).toContain('MARQUEE_CONFIG=/etc/marquee/marquee.yaml')
      const { Test, Interval, Timeout } = image.Healthcheck
      expect([Test[0], Test.at(-1), Interval, Timeout]).toEqual(['CMD', 'ready', 10e9, 6e9])
    })

    it(`takes no more than ${MOST_MB[runtime]} MB beyond its base, and holds neither npm nor the other runtime`, () => {
      const sizeMb = megabytesOf(root) - baseMb
      console.log(`the image of ${runtime}: ${sizeMb.toFixed(0)} MB beyond its base of ${baseMb.toFixed(0)} MB`)
      expect(sizeMb).toBeLessThan(MOST_MB[runtime])
      const modules = join(root, 'marquee/node_modules')
      expect(existsSync(join(modules, '@oven'))).toBe(runtime === 'bun')
      expect(readdirSync(modules).some((name) => name.startsWith('node-'))).toBe(runtime === 'node')
      expect(existsSync(join(root, 'usr/local/bin/npm'))).toBe(false)
    })

    it('serves by its own entrypoint and user, is healthy, writes nothing, and ends at SIGTERM with 0', async () => {
      const ports = [await freePort(), await freePort()]
      // In a chroot the container has the network of the machine, where its own ports may be taken.
      const variables = [`MARQUEE_LISTEN_PORT=${ports[0]}`, `MARQUEE_OPERATIONS_LISTEN_PORT=${ports[1]}`]
      const inside = (words: readonly string[]): Child => {
        const options = variables.flatMap((each) => ['--env', each])
        return new Child('buildah', [...GLOBAL, 'run', ...options, container, '--', ...words], { env })
      }
      const marker = join(folder, `${runtime}.marker`)
      writeFileSync(marker, '')
      await eventually(
        async () => Date.now() - statSync(marker).mtimeMs,
        (ms) => ms > 50,
      )
      const { child, listening } = await untilListening(inside([...image.Entrypoint, ...image.Cmd]))
      const asked = (listening.try ?? '').replace(/^.*?:\d+/, `http://127.0.0.1:${ports[0]}`)
      expect((await fetch(asked)).status).toBe(200)
      const healthy = await eventually(
        () => inside(image.Healthcheck.Test.slice(1)).exited,
        (status) => status === 0,
      )
      expect(healthy).toBe(0)
      const pid = serviceBelow(child.pid)
      expect(statSync(`/proc/${pid}`)).toMatchObject({ uid: 10001, gid: 10001 })
      process.kill(pid, 'SIGTERM')
      expect(await child.exited).toBe(0)
      expect(await inside(image.Healthcheck.Test.slice(1)).exited).not.toBe(0)
      expect(writtenSince(root, marker)).toEqual([])
    }, 120_000)
  })
})
