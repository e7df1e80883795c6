import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { exposed } from '../support/exposed-metrics.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { installedProgram } from '../support/installed-program.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'

const PROMTOOL = installedProgram('promtool')
const PROMETHEUS = installedProgram('prometheus')
const FOLDER = join(ROOT, 'deploy/prometheus')

function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(PROMTOOL ?? '', args, { cwd: FOLDER, encoding: 'utf8' })
  return status === 0 ? 'fine' : `${stdout}${stderr}`
}

/** The metrics a text names, histograms by their own name. */
function namedIn(text: string): string[] {
  const names = text.match(/\b(?:marquee|process)_[a-z0-9_]+/g) ?? []
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))].toSorted()
}

describe('the files for Prometheus and Grafana', () => {
  let directory: FilesDirectory
  let sharing: FilesDirectory
  let running: MarqueeProcess
  let metrics: readonly string[] = []
  let roles: readonly string[] = []
  beforeAll(async () => {
    directory = new FilesDirectory({ operations: { port: 0 } }, { events: '[]', venues: '[]' })
    running = await serve('bun', directory.configuration)
    // One that shares has all the others have, and more; that its store is not there is no matter.
    sharing = new FilesDirectory({ operations: { port: 0 }, cluster: { url: 'redis://127.0.0.1:1/0' } }, null)
    const other = await serve('bun', sharing.configuration)
    const reply = await askOperations(`${other.listening.operations ?? ''}metrics`)
    await other.child.stop()
    metrics = exposed(reply?.text ?? '').map(({ name }) => name)
    roles = [...(reply?.text ?? '').matchAll(/^marquee_cluster_role\{role="(\w+)"\}/gm)].map(([, role]) => role ?? '')
  })
  afterAll(async () => {
    await running.child.stop()
    directory.remove()
    sharing.remove()
  })

  it.skipIf(PROMTOOL === null)('are what promtool has nothing against, and the alerts fire when they should', () => {
    expect(promtool('check', 'rules', 'alerts.yml')).toBe('fine')
    expect(promtool('check', 'config', 'prometheus.yml')).toBe('fine')
    expect(promtool('test', 'rules', 'alerts.test.yml')).toBe('fine')
  })

  it.each(['deploy/prometheus/alerts.yml', 'deploy/grafana/marquee.json'])(
    '%s asks only for metrics there are',
    (path) => {
      const asked = namedIn(readFileSync(join(ROOT, path), 'utf8'))
      expect(asked.length).toBeGreaterThan(5)
      expect(asked.filter((name) => !metrics.includes(name))).toEqual([])
    },
  )

  it('the alerts name only roles that an instance can have', () => {
    const alerts = readFileSync(join(FOLDER, 'alerts.yml'), 'utf8')
    const named = [...alerts.matchAll(/role=~"([\w|]+)"/g)].flatMap(([, names = '']) => names.split('|'))
    expect(named).toEqual(['leader', 'standalone'])
    expect(named.filter((role) => !roles.includes(role))).toEqual([])
  })

  it('every alert is tested', () => {
    const alerts = readFileSync(join(FOLDER, 'alerts.yml'), 'utf8').match(/(?<=alert: )\w+/g) ?? []
    const tests = readFileSync(join(FOLDER, 'alerts.test.yml'), 'utf8')
    expect(alerts.filter((alert) => !new RegExp(`alertname: ${alert}\n +exp_alerts`).test(tests))).toEqual([])
  })

  it.skipIf(PROMETHEUS === null)('are loaded by the real Prometheus, which finds the service well', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'marquee-prometheus-'))
    const port = await freePort()
    const target = new URL(running.listening.operations ?? '').host
    const text = readFileSync(join(FOLDER, 'prometheus.yml'), 'utf8')
    const configuration = text
      .replace('127.0.0.1:8081', target)
      .replace('scrape_interval: 15s', 'scrape_interval: 1s')
      .replace('[alerts.yml]', `[${join(FOLDER, 'alerts.yml')}]`)
    writeFileSync(join(folder, 'prometheus.yml'), configuration)
    const prometheus = new Child(PROMETHEUS ?? '', [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ])
    const ask = async (query: string): Promise<string> => {
      const reply = await askOperations(`http://127.0.0.1:${port}/api/v1/${query}`)
      return reply?.text ?? ''
    }
    const found = await eventually(
      () => ask('query?query=marquee_ready'),
      (reply) => reply.includes('"marquee_ready"'),
    )
    expect(found).toMatch(/"value":\[[\d.]+,"1"\]/)
    expect(await ask('rules')).toContain('MarqueeShrinkGuardEngaged')
    expect(await ask('alerts')).toContain('"alerts":[]')
    await prometheus.stop()
    rmSync(folder, { recursive: true })
  })
})
