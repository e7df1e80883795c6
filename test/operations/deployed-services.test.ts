import { describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { Child, ROOT } from '../support/child.ts'
import { instructionsOf, runSteps } from '../support/containerfile.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { installedProgram } from '../support/installed-program.ts'
import { untilListening } from '../support/marquee-process.ts'

const SYSTEMD = installedProgram('systemd-analyze')

describe.each(['bun', 'node'] as Runtime[])('the container of %s', (runtime) => {
  const path = join(ROOT, `deploy/container/Containerfile.${runtime}`)

  it('is written as images should be', () => {
    const instructions = instructionsOf(path)
    const texts = (name: string): string[] => instructions.filter((one) => one.name === name).map(({ text }) => text)
    expect(texts('FROM').every((text) => /^docker\.io\/library\/[\w-]+:[\w.-]+( AS \w+)?$/.test(text))).toBe(true)
    expect(texts('FROM').filter((text) => text.includes(':latest'))).toEqual([])
    expect(texts('USER')).toEqual(['10001:10001'])
    expect(texts('ADD')).toEqual([])
    // In the exec form the service is process 1 and gets the signals itself.
    for (const name of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK']) expect(texts(name)[0]).toMatch(/\["[^\]]+"\]$/)
    expect(texts('HEALTHCHECK')[0]).toEndWith('"ready"]')
    expect(texts('COPY').join()).not.toMatch(/(?:^|,)\. /)
  })

  it('its steps run; what they make serves as nobody in particular, writes nothing, is ready, and ends in order', async () => {
    const image = runSteps(path)
    const configuration = image.env['MARQUEE_CONFIG'] ?? ''
    const shipped = readFileSync(configuration, 'utf8')
    expect(shipped).toContain('host: 0.0.0.0')
    const operations = `operations: { port: ${await freePort()} }\n`
    const here = shipped.replace('port: 8080', 'port: 0').replace('host: 0.0.0.0', 'host: 127.0.0.1')
    writeFileSync(configuration, operations + here.replace('/marquee/sample', join(image.root, 'marquee/sample')))
    chmodSync(image.root, 0o755)
    // Nobody in particular owns nothing here, so that the file system is as good as read-only.
    const isRoot = process.getuid?.() === 0
    const asNobody = isRoot ? ['setpriv', '--reuid=10001', '--regid=10001', '--clear-groups', '--'] : []
    const options = { cwd: '/', env: { ...image.env, HOME: '/nonexistent', TMPDIR: '/nonexistent' } }
    const run = (words: readonly string[]): Child => {
      const [program = '', ...args] = [...asNobody, ...words]
      return new Child(program, args, options)
    }
    const { child, listening } = await untilListening(run([...image.entrypoint, ...image.command]))
    expect((await fetch(listening.try ?? '')).status).toBe(200)
    expect(child.stdout).toContain(`"runtime":"${runtime === 'bun' ? 'Bun' : 'Node'} `)
    const healthy = await eventually(
      () => run(image.healthcheck).exited,
      (status) => status === 0,
    )
    expect(healthy).toBe(0)
    expect(await child.stop()).toBe(0)
    expect(await run(image.healthcheck).exited).toBe(1)
    image.remove()
  })
})

describe('the systemd unit', () => {
  const text = readFileSync(join(ROOT, 'deploy/systemd/marquee.service'), 'utf8')

  it.skipIf(SYSTEMD === null)('is what systemd-analyze has nothing against', () => {
    const folder = mkdtempSync(join(tmpdir(), 'marquee-unit-'))
    const unit = join(folder, 'marquee.service')
    writeFileSync(unit, text.replaceAll('/opt/marquee/node_modules/.bin', ROOT).replaceAll('/opt/marquee', ROOT))
    const { status, stderr } = spawnSync(SYSTEMD ?? '', ['verify', unit], { encoding: 'utf8' })
    const about = stderr.split('\n').filter((line) => line.includes('marquee'))
    expect([status, about]).toEqual([0, []])
    rmSync(folder, { recursive: true })
  })

  it('restarts a process that hangs: Marquee tells systemd through a shell that it runs', () => {
    expect(text).toContain('\nType=notify\n')
    expect(text).toContain('\nNotifyAccess=all\n')
    expect(Number(/^WatchdogSec=(\d+)s$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(15)
  })

  it('grants a stop more than limits.drain, starts again after any end, and does not restart a wrong configuration', () => {
    expect(Number(/TimeoutStopSec=(\d+)s/.exec(text)?.[1])).toBeGreaterThan(10)
    expect(text).toContain('\nRestart=always\n')
    expect(text).toContain('RestartPreventExitStatus=2')
  })
})
