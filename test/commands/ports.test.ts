import { describe, expect, it } from 'bun:test'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { readFileSync } from 'node:fs'
import type { Child } from '../support/child.ts'
import { ROOT } from '../support/child.ts'
import { freePort } from '../support/free-port.ts'
import { runCommand, STACK, startCommand } from './run-command.ts'
import { CONFIGURATION, WorkFolder } from './work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'

const FREE = { MARQUEE_LISTEN_PORT: '0', MARQUEE_OPERATIONS_LISTEN_PORT: '0' }

interface Listening {
  readonly address: string
  readonly operations: string | null
  readonly configuration: string
}

async function listening(child: Child): Promise<Listening> {
  const line = await child.line((one) => one.includes('"listening"'))
  if (line === null) throw new Error(child.stderr)
  return JSON.parse(line) as Listening
}

describe.each(RUNTIMES)('ports that are said outside of the configuration, on %s', (runtime) => {
  it('--port and --operations-port move the sample; ready, explain and accept find it by --operations-port', async () => {
    using folder = new WorkFolder()
    const [port, operations] = [await freePort(), await freePort()]
    const options = ['--port', String(port), '--operations-port', String(operations)]
    const child = startCommand(['serve', ...options], { cwd: folder.path, runtime })
    const said = await listening(child)
    expect(said.address).toBe(`http://127.0.0.1:${port}/`)
    expect(said.operations).toBe(`http://127.0.0.1:${operations}/`)
    expect((await fetch(`${said.address}api/events`)).status).toBe(200)
    const ask = (args: readonly string[], env = {}) => runCommand(args, { cwd: folder.path, runtime, env })
    const [accepted, ready, explained] = await Promise.all([
      ask(['accept', '--operations-port', String(operations)]),
      ask(['ready'], { MARQUEE_OPERATIONS_LISTEN_PORT: String(operations) }),
      ask(['explain', 'x', '--operations-port', String(operations)]),
    ])
    expect([ready.status, ready.stdout, accepted.status]).toEqual([0, 'ready\n', 0])
    expect(explained.stdout).toContain(`answered by the running instance at http://127.0.0.1:${operations}`)
    expect(await child.stop()).toBe(0)
  })

  it('an option wins over its variable, a variable over the file; a reload compares what is in force', async () => {
    const port = await freePort()
    using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION.replace('port: 0', 'port: 1') })
    folder.copySample('crm')
    const env = { ...FREE, MARQUEE_LISTEN_PORT: '2' }
    const child = startCommand(['serve', '--port', String(port)], { cwd: folder.path, runtime, env })
    expect((await listening(child)).address).toBe(`http://127.0.0.1:${port}/`)
    folder.write('marquee.yaml', CONFIGURATION.replace('port: 0', 'port: 3').concat('lists: on\n'))
    child.signal('SIGHUP')
    const told = await child.line((line) => line.includes('"event":"reload'))
    expect(JSON.parse(told ?? '')).toMatchObject({ event: 'reloaded', changed: ['lists'] })
    await child.stop()
  })

  it.each(['listen: { port: 1 }\n', 'operations: null\n', 'listen: { port: 1 }\noperations:\n  port: 1\n'])(
    'a file that says no more than %j serves the sample',
    async (text) => {
      using folder = new WorkFolder({ 'marquee.yaml': text })
      const child = startCommand(['serve'], { cwd: folder.path, runtime, env: FREE })
      const said = await listening(child)
      expect(said.configuration).toBe(
        `the sample, because ${folder.at('marquee.yaml')}, found here, sets only where to listen`,
      )
      expect(said.operations === null).toBe(text === 'operations: null\n')
      expect((await fetch(`${said.address}api/events`)).status).toBe(200)
      await child.stop()
    },
  )

  it('a port that is taken is told with the option that helps', async () => {
    using folder = new WorkFolder()
    const server = createServer().listen(0, '127.0.0.1')
    const port = await new Promise<number>((resolve) => {
      server.on('listening', () => {
        const at = server.address()
        resolve(typeof at === 'object' && at !== null ? at.port : 0)
      })
    })
    const { status, stderr } = await runCommand(['serve', '--port', String(port), '--operations-port', '0'], {
      cwd: folder.path,
      runtime,
    })
    expect([status, stderr]).toEqual([
      1,
      `127.0.0.1:${port} (listen.host, listen.port) is in use: stop what listens there, or choose another port by --port or listen.port, 0 for any\n`,
    ])
    server.close()
  })
})

describe('a port that cannot be', () => {
  it('in a variable is a problem of every command, told with those of the file', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': 'crm: 5\n' })
    const cases = [
      [['serve'], 'MARQUEE_LISTEN_PORT', 'tcp://10.0.0.1:80'],
      [['check'], 'MARQUEE_LISTEN_PORT', '65536'],
      [['ready'], 'MARQUEE_OPERATIONS_LISTEN_PORT', '1e3'],
      [['explain', 'x'], 'MARQUEE_OPERATIONS_LISTEN_PORT', '-8101'],
    ] as const
    const ends = await Promise.all(
      cases.map(([args, name, value]) => runCommand(args, { cwd: folder.path, env: { [name]: value } })),
    )
    for (const [index, [, name, value]] of cases.entries()) {
      const { status, stderr } = ends[index] ?? { status: null, stderr: '' }
      expect(status).toBe(2)
      expect(stderr).toStartWith(`the environment variable ${name} must be a whole number from 0 to 65535`)
      expect(stderr).toContain('marquee.yaml:1: crm is 5')
      expect(stderr).not.toContain(value)
      expect(stderr).not.toMatch(STACK)
    }
  })

  it('an empty variable and MARQUEE_PORT count for nothing', async () => {
    using folder = new WorkFolder()
    const env = { MARQUEE_LISTEN_PORT: '', MARQUEE_PORT: 'tcp://10.0.0.1:80' }
    const { status, stdout } = await runCommand(['check', '--json'], { cwd: folder.path, env })
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { ok: true, problems: [] }])
  })

  it('the same port for both listeners is refused, for the sample too', async () => {
    using folder = new WorkFolder()
    const { status, stderr } = await runCommand(['serve', '--port', '8081'], { cwd: folder.path })
    expect([status, stderr]).toEqual([
      2,
      'the sample: operations.port is the same as listen.port; set another port, or start with --operations-port 0 for any free one\n',
    ])
  })

  it('--operations-port does not switch on what operations: null switches off, and says so', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': 'operations: null\n' })
    const { status, stderr } = await runCommand(['ready', '--operations-port', '1'], { cwd: folder.path })
    expect(status).toBe(1)
    expect(stderr).toContain('warning: --operations-port has no effect: operations: null switches')
    expect(stderr).toContain('its operations listener is switched off')
  })

  it.each(['', 'lists: on\n', 'listen: { port: 0 }\nlists: on\n', 'basePath: /x\n'])(
    'any other file without crm is refused: %j',
    async (text) => {
      using folder = new WorkFolder({ 'marquee.yaml': text })
      const { status, stderr } = await runCommand(['check'], { cwd: folder.path })
      expect([status, /crm is missing/.test(stderr)]).toEqual([2, true])
    },
  )
})

it('the Kubernetes file takes no variables from Services', () => {
  const text = readFileSync(join(ROOT, 'deploy/kubernetes/marquee.yaml'), 'utf8')
  const pods = parseAllDocuments(text).filter((document) => document.hasIn(['spec', 'template', 'spec', 'containers']))
  expect(pods.length).toBeGreaterThan(0)
  for (const pod of pods) expect(pod.getIn(['spec', 'template', 'spec', 'enableServiceLinks'])).toBe(false)
})
