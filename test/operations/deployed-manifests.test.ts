import { expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { nginxFile } from '../cluster/nginx.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { instructionsOf } from '../support/containerfile.ts'
import { eventually } from '../support/eventually.ts'
import { installedProgram } from '../support/installed-program.ts'
import { untilListening } from '../support/marquee-process.ts'

const COMPOSE = installedProgram('docker-compose')
const CONTAINER = join(ROOT, 'deploy/container')
const CONTAINERFILES = ['bun', 'node'].map((runtime) => instructionsOf(join(CONTAINER, `Containerfile.${runtime}`)))

function textOf(name: string): string {
  return readFileSync(join(ROOT, 'deploy', name), 'utf8')
}

/** Where a configuration that is mounted at `path` looks for its lists, and where it listens. */
async function mounted(path: string, text: string): Promise<{ directory: string; host: string }> {
  const readFile = (): Promise<never> => Promise.reject(new Error('no file is named'))
  const env = { MARQUEE_OPERATIONS_TOKEN: 'right' }
  const loaded = await loadConfiguration({ path, text, env, readFile })
  if (!loaded.ok || loaded.configuration.crm.kind !== 'files') throw new Error(JSON.stringify(loaded))
  return { directory: loaded.configuration.crm.directory ?? '', host: loaded.configuration.listen.host }
}

it.skipIf(COMPOSE === null).each(['compose.yaml', 'instances.compose.yaml'])(
  '%s is what docker-compose takes',
  (name) => {
    const args = ['--file', join(CONTAINER, name), 'config', '--quiet']
    const { status, stderr } = spawnSync(COMPOSE ?? '', args, { encoding: 'utf8' })
    expect([stderr, status]).toEqual(['', 0])
  },
)

it('the compose file of several instances mounts what its configuration names, and nginx asks each of them', async () => {
  const { services } = parse(textOf('container/instances.compose.yaml')) as {
    services: Record<string, { volumes?: string[]; command?: string }>
  }
  const names = Object.keys(services).filter((name) => name.startsWith('marquee-'))
  const command = services['nginx']?.command ?? ''
  const asked = ['8080', '8082'].map(
    (port) => new RegExp(`s/127\\.0\\.0\\.1:${port}/(marquee-\\d):8080/g`).exec(command)?.[1] ?? '',
  )
  expect(asked).toEqual(names)
  for (const port of ['8080', '8082']) expect(nginxFile()).toContain(`127.0.0.1:${port};`)
  const mounts = new Map(services['marquee-1']?.volumes?.map((volume) => [volume.split(':')[1] ?? '', volume]))
  const files: Readonly<Record<string, string>> = {
    '/etc/marquee/marquee.yaml': textOf('container/instances.yaml'),
  }
  const readFile = async (path: string): Promise<Uint8Array> => {
    expect(mounts.has(path)).toBe(true)
    return new TextEncoder().encode(files[path])
  }
  const loaded = await loadConfiguration({ path: '/etc/marquee/marquee.yaml', env: {}, readFile })
  if (!loaded.ok || loaded.configuration.crm.kind !== 'files') throw new Error(JSON.stringify(loaded))
  const { crm, cluster } = loaded.configuration
  expect(mounts.has(crm.directory ?? '')).toBe(true)
  expect(Object.keys(services)).toContain(new URL(cluster?.url.reveal() ?? '').hostname)
})

it('the compose files end a container that hangs, which no restart policy of Docker does', () => {
  for (const name of ['compose.yaml', 'instances.compose.yaml']) {
    const { services } = parse(textOf(`container/${name}`), { merge: true }) as {
      services: Record<string, { init?: boolean; restart?: string; healthcheck?: { test: string[]; timeout: string } }>
    }
    const own = Object.entries(services).filter(([service]) => service.startsWith('marquee'))
    for (const [, { init, restart, healthcheck }] of own) {
      expect([init, restart, healthcheck?.test[0]]).toEqual([true, 'unless-stopped', 'CMD-SHELL'])
      const [, command = ''] = healthcheck?.test ?? []
      const run = (status: number): string => {
        const text = command.replaceAll('/marquee/marquee live', `(exit ${status})`).replace('sleep 5', 'echo again')
        return spawnSync('sh', ['-c', text.replace('kill -KILL -1', 'echo ended')], { encoding: 'utf8' }).stdout
      }
      expect([run(0), run(1)]).toEqual(['', 'again\nagain\nagain\nended\n'])
    }
    expect(own.length).toBeGreaterThan(0)
  }
})

it('the compose file mounts the configuration where the image looks for it, and the lists where the configuration does', async () => {
  const { services } = parse(textOf('container/compose.yaml')) as {
    services: { marquee: { volumes: string[]; build: { dockerfile: string } } }
  }
  const { volumes, build } = services.marquee
  const mounts = new Map(volumes.map((volume) => [volume.split(':')[1] ?? '', volume.split(':')[0]]))
  const [env = ''] = CONTAINERFILES.flat().flatMap(({ name, text }) => (name === 'ENV' ? [text] : []))
  const path = /MARQUEE_CONFIG=(\S+)/.exec(env)?.[1] ?? ''
  expect(mounts.get(path)).toBe('./files.yaml')
  const { directory, host } = await mounted(path, textOf('container/files.yaml'))
  expect([mounts.get(directory), host]).toEqual(['./crm', '0.0.0.0'])
  expect(readFileSync(join(ROOT, build.dockerfile), 'utf8')).toContain('ENTRYPOINT')
})

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data: Record<string, string>
  readonly stringData?: Record<string, string>
  readonly spec: {
    readonly selector: Record<string, unknown>
    readonly ports: { readonly targetPort: string }[]
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly topologySpreadConstraints: readonly object[]
        readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number }
        readonly containers: {
          readonly ports: { readonly name: string; readonly containerPort: number }[]
          readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: string[] } } }
          readonly readinessProbe: Probe
          readonly livenessProbe: Probe
          readonly env: {
            readonly name: string
            readonly valueFrom: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
          }[]
          readonly volumeMounts: { readonly name: string; readonly mountPath: string }[]
        }[]
        readonly volumes: {
          readonly name: string
          readonly configMap?: { readonly name: string }
          readonly persistentVolumeClaim?: { readonly claimName: string }
        }[]
      }
    }
  }
}

it('the Kubernetes manifest fits together, the image, and what kind: files needs', async () => {
  const documents = parseAllDocuments(textOf('kubernetes/marquee.yaml'))
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
  const manifests = documents.map((document) => document.toJS() as Manifest)
  const of = (kind: string): Manifest =>
    manifests.find((manifest) => manifest.kind === kind) ?? expect.unreachable(kind)
  const { template, selector } = of('Deployment').spec
  const [container = expect.unreachable()] = template.spec.containers
  const labels = template.metadata.labels
  expect([selector, of('Service').spec.selector]).toEqual([{ matchLabels: labels }, labels])
  expect(of('Service').spec.ports.map(({ targetPort }) => targetPort)).toEqual(['public'])
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(template.spec.volumes.map(({ name }) => name))
  const [configuration, crm] = template.spec.volumes
  expect(configuration?.configMap?.name).toBe(of('ConfigMap').metadata.name)
  expect(crm?.persistentVolumeClaim?.claimName).toBe(of('PersistentVolumeClaim').metadata.name)
  const [configurationAt, crmAt] = container.volumeMounts.map(({ mountPath }) => mountPath)
  const path = `${configurationAt}/marquee.yaml`
  expect(await mounted(path, of('ConfigMap').data['marquee.yaml'] ?? '')).toEqual({
    directory: crmAt ?? '',
    host: '0.0.0.0',
  })
  const { runAsUser, runAsGroup } = template.spec.securityContext
  for (const containerfile of CONTAINERFILES) {
    const instructions = containerfile.map(({ name, text }) => `${name} ${text}`)
    expect(instructions).toContain(`USER ${runAsUser}:${runAsGroup}`)
    expect(instructions.join('\n')).toContain(`MARQUEE_CONFIG=${path}`)
  }
  const [wait, seconds] = container.lifecycle.preStop.exec.command
  expect([wait, Number(seconds) >= 2]).toEqual(['sleep', true])
  // `limits.drain`, and five seconds more.
  expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(seconds) + 10 + 5)
})

it('the Kubernetes manifest has nginx in front, whose instances are the Service', () => {
  const manifests = parseAllDocuments(textOf('kubernetes/marquee.yaml')).map((document) => document.toJS() as Manifest)
  const of = (kind: string): Manifest =>
    manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === 'marquee-proxy') ??
    expect.unreachable(kind)
  const { template, selector } = of('Deployment').spec
  const labels = template.metadata.labels
  expect([selector, of('Service').spec.selector]).toEqual([{ matchLabels: labels }, labels])
  const [container = expect.unreachable()] = template.spec.containers
  expect(of('Service').spec.ports.map(({ targetPort }) => targetPort)).toEqual(container.ports.map(({ name }) => name))
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(template.spec.volumes.map(({ name }) => name))
  expect(template.spec.volumes[0]?.configMap?.name).toBe(of('ConfigMap').metadata.name)
  const conf = of('ConfigMap').data['default.conf'] ?? ''
  expect(conf).toContain(`listen ${container.ports[0]?.containerPort};`)
  const service = manifests.find(({ kind }) => kind === 'Service')?.metadata.name
  expect([...new Set(conf.match(/(?<=server )\S+(?=:80 )/g))]).toEqual([service ?? ''])
})

it('in Kubernetes each Deployment keeps an instance while nodes are drained, and spreads over nodes', () => {
  const manifests = parseAllDocuments(textOf('kubernetes/marquee.yaml')).map((document) => document.toJS() as Manifest)
  for (const { spec } of manifests.filter(({ kind }) => kind === 'Deployment')) {
    const labels = spec.template.metadata.labels
    const budget = manifests.find(
      (each) => each.kind === 'PodDisruptionBudget' && Bun.deepEquals(each.spec.selector, { matchLabels: labels }),
    )
    expect(budget?.spec).toMatchObject({ minAvailable: 1 })
    expect(spec.template.spec.topologySpreadConstraints).toEqual([
      expect.objectContaining({ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } }),
    ])
  }
})

it('what Kubernetes runs starts, is live and ready, and Prometheus gets its metrics by the token of the Secret', async () => {
  const manifests = parseAllDocuments(textOf('kubernetes/marquee.yaml')).map((document) => document.toJS() as Manifest)
  const of = (kind: string): Manifest =>
    manifests.find((manifest) => manifest.kind === kind) ?? expect.unreachable(kind)
  const [container = expect.unreachable()] = of('Deployment').spec.template.spec.containers
  const folder = mkdtempSync(join(tmpdir(), 'marquee-kubernetes-'))
  try {
    const yaml = of('ConfigMap').data['marquee.yaml'] ?? ''
    const placed = yaml
      .replaceAll('host: 0.0.0.0', 'host: 127.0.0.1')
      .replace('/var/lib/marquee/crm', join(ROOT, 'sample'))
      .replace('/var/cache/marquee', folder)
    writeFileSync(join(folder, 'marquee.yaml'), placed)
    const secretAt = container.env[0]?.valueFrom.secretKeyRef ?? expect.unreachable()
    const secret = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secretAt.name)
    expect(secret?.stringData).toEqual({ [secretAt.key]: '' })
    const start = (token: string): Child => {
      const ports = ['--port', '0', '--operations-port', '0']
      const env = { [container.env[0]?.name ?? '']: token }
      return new Child(programOf('bun'), ['src/main.ts', 'serve', '--config', join(folder, 'marquee.yaml'), ...ports], {
        env,
      })
    }
    const refused = start('')
    expect(await refused.exited).toBe(2)
    expect(refused.stderr).toContain('operations.token')
    const { child, listening } = await untilListening(start('right'))
    const ask = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
      (await fetch(new URL(path, listening.operations ?? ''), { headers })).status
    for (const probe of [container.livenessProbe, container.readinessProbe]) {
      expect(container.ports.map(({ name }) => name)).toContain(probe.httpGet.port)
      await eventually(
        () => ask(probe.httpGet.path),
        (status) => status === 200,
      )
    }
    const monitor = parse(textOf('kubernetes/podmonitor.yaml')) as {
      spec: { podMetricsEndpoints: { port: string; path: string; authorization: { credentials: unknown } }[] }
    }
    const [endpoint = expect.unreachable()] = monitor.spec.podMetricsEndpoints
    expect(endpoint.authorization.credentials).toEqual({ ...secretAt })
    expect(await ask(endpoint.path)).toBe(401)
    expect(await ask(endpoint.path, { Authorization: 'Bearer right' })).toBe(200)
    expect((await fetch(`${listening.address}api/events`)).status).toBe(200)
    expect(await child.stop()).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('.dockerignore lets through what the container files copy, and no tool, test or history', () => {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  const through = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  const copied = CONTAINERFILES.flat()
    .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
    .flatMap(({ text }) => text.split(' ').slice(0, -1))
    .map((name) => name.replace(/^\.\//, ''))
  expect(lines).toContain('*')
  expect([...new Set(copied)].toSorted()).toEqual(through.toSorted())
})
