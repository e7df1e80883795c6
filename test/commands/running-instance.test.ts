import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { createServer } from 'node:http'
import { type AddressInfo, type Socket, createServer as createTcpServer } from 'node:net'
import { freePort } from '../support/free-port.ts'
import type { Child } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand, STACK, startCommand } from './run-command.ts'
import { WorkFolder } from './work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'

const SHOWN = '7e016ac6-5cee-4fd6-be12-faa34a6761ef'

function configuration(operations: string): string {
  return `listen: { port: 0 }\noperations: ${operations}\ncrm: { kind: files, directory: ./crm }\n`
}

describe('the commands that ask the running instance (SURFACE: Commands)', () => {
  let folder: WorkFolder
  let service: Child
  let port = 0

  beforeAll(async () => {
    port = await freePort()
    folder = new WorkFolder({
      'marquee.yaml': configuration(`{ port: ${port}, token: { env: TOKEN } }`),
      'no-token.yaml': configuration(`{ port: ${port} }`),
    })
    folder.copySample('crm')
    service = startCommand(['serve'], { cwd: folder.path, env: { TOKEN: 'right' } })
    await service.line((line) => line.includes('"listening"'))
  })
  afterAll(async () => {
    await service.stop()
    folder[Symbol.dispose]()
  })

  const ask = (args: readonly string[], env: Readonly<Record<string, string>> = { TOKEN: 'right' }) =>
    runCommand(args, { cwd: folder.path, env })

  it('ready ends with 0 once it is, on both runtimes, whatever proxy is set', async () => {
    await eventually(
      () => ask(['ready']),
      ({ status }) => status === 0,
    )
    // The token must not go to a proxy, nor the probe fail for it.
    const env = {
      TOKEN: 'right',
      HTTP_PROXY: 'http://127.0.0.1:9',
      http_proxy: 'http://127.0.0.1:9',
      NODE_USE_ENV_PROXY: '1',
    }
    for (const runtime of RUNTIMES) {
      const { status, stdout, stderr } = await runCommand(['ready'], { cwd: folder.path, env, runtime })
      expect([status, stdout, stderr]).toEqual([0, 'ready\n', ''])
    }
  })

  it('explain asks it, and says so', async () => {
    const { status, stdout, stderr } = await ask(['explain', SHOWN])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toStartWith(
      `The event ${SHOWN} is on the web (answered by the running instance at http://127.0.0.1:${port}).\n`,
    )
    const json = await ask(['explain', SHOWN, '--json'])
    expect(Object.keys(JSON.parse(json.stdout) as object)).toEqual(['id', 'kind', 'shown', 'steps'])
  })

  it('accept says that there was nothing to accept', async () => {
    expect(await ask(['accept'])).toEqual({
      status: 0,
      stdout: 'no list was held back, so there was nothing to accept\n',
      stderr: '',
    })
  })

  it('explain asks it of any id at all, and dots alone of the CRM', async () => {
    for (const id of ['zz\nb', '\n', '\r\n\u2028', '../ready?x#y%', 'a/b//', '%0A', ' ', '{']) {
      const { status, stdout, stderr } = await ask(['explain', id])
      expect([id, status, stderr]).toEqual([id, 1, ''])
      expect(stdout).toStartWith(
        `${JSON.stringify(id).replace('\u2028', '\\u2028')} is not on the web (answered by the running instance`,
      )
    }
    const { status, stdout, stderr } = await ask(['explain', '..'])
    expect([status, stderr]).toEqual([1, ''])
    expect(stdout).toStartWith('".." is not on the web (')
  })

  it('with a wrong token accept ends with 1, and explain reads the CRM instead; neither prints it', async () => {
    const [accepted, explained] = await Promise.all([
      ask(['accept'], { TOKEN: 'wr0ng' }),
      ask(['explain', SHOWN], { TOKEN: 'wr0ng' }),
    ])
    const refused = `http://127.0.0.1:${port} refused the token: operations.token must be what the instance was started with`
    expect([accepted.status, accepted.stdout, accepted.stderr]).toEqual([1, '', `nothing was accepted: ${refused}\n`])
    expect([explained.status, explained.stderr]).toEqual([0, `warning: the CRM is read instead: ${refused}\n`])
    expect(explained.stdout).toContain('the CRM was read now')
    expect(JSON.stringify([accepted, explained])).not.toContain('wr0ng')
    const without = await ask(['accept', '--config', 'no-token.yaml'])
    expect([without.status, without.stderr]).toEqual([1, `nothing was accepted: ${refused}\n`])
  })

  it('a token that is not set is a problem of the configuration: 2', async () => {
    const { status, stderr } = await ask(['ready'], {})
    expect(status).toBe(2)
    expect(stderr).toMatch(/^\S+marquee\.yaml:2: operations\.token .*TOKEN.*\n$/)
  })
})

describe('the commands that ask the running instance, where there is none to ask (SURFACE: Commands)', () => {
  it.each(RUNTIMES)('%s: dials an address with a zone, which no URL can contain', async (runtime) => {
    const operations = '{ host: "fe80::1%no-such-zone", token: { env: TOKEN } }'
    using folder = new WorkFolder({ 'marquee.yaml': configuration(operations) })
    const { status, stderr } = await runCommand(['ready'], { cwd: folder.path, env: { TOKEN: 'right' }, runtime })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^not ready: .* on http:\/\/\[fe80::1%no-such-zone\]:8081 \(operations\.host, .*\)\n$/)
  })

  it('says why, and ends with 1', async () => {
    const unused = await freePort()
    const cases = [
      [`{ port: ${unused} }`, `nothing answers on http://127.0.0.1:${unused} (operations.host, operations.port)`],
      [`{ host: localhost, port: ${unused} }`, `nothing answers on http://localhost:${unused} `],
      ['null', 'its operations listener is switched off (operations: null)'],
      [
        '{ port: 0 }',
        'the operations port is 0, so each start takes another one and prints it; repeat the command with --operations-port and that port',
      ],
    ] as const
    for (const [operations, says] of cases) {
      using folder = new WorkFolder({ 'marquee.yaml': configuration(operations) })
      for (const [command, begins] of [
        ['ready', 'not ready: '],
        ['accept', 'nothing was accepted: '],
      ] as const) {
        const { status, stdout, stderr } = await runCommand([command], { cwd: folder.path })
        expect([status, stdout]).toEqual([1, ''])
        expect(stderr).toStartWith(`${begins}${says}`)
        expect(stderr).not.toMatch(STACK)
      }
    }
  })

  it('explain with operations.port 0 does not claim that no instance runs, and says how to ask it', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': configuration('{ port: 0 }') })
    folder.copySample('crm')
    const { status, stdout, stderr } = await runCommand(['explain', 'x'], { cwd: folder.path })
    expect([status, stdout.includes('(the CRM was read now)')]).toEqual([1, true])
    const says =
      'warning: the CRM is read instead: the operations port is 0, so each start takes another one and prints it'
    expect(stderr).toStartWith(says)
  })

  it('is not taken in by another server on that port, nor by one that never ends', async () => {
    const other = createServer((request, response) => {
      if (request.url === '/ready') response.writeHead(503)
      else if (request.url === '/accept') response.writeHead(404)
      else response.write('{'.repeat(100_000))
      if (request.method === 'POST' || request.url === '/ready') response.end('<html>')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    using folder = new WorkFolder({ 'marquee.yaml': configuration(`{ port: ${port} }`) })
    folder.copySample('crm')
    const ready = await runCommand(['ready'], { cwd: folder.path })
    expect([ready.status, ready.stdout]).toEqual([1, ''])
    const accepted = await runCommand(['accept'], { cwd: folder.path })
    expect([accepted.status, accepted.stderr]).toEqual([
      1,
      `nothing was accepted: http://127.0.0.1:${port} answered 404: that is not the operations listener of this Marquee (operations.port)\n`,
    ])
    const explained = await runCommand(['explain', SHOWN], { cwd: folder.path })
    const why = `no response within 5 s on http://127.0.0.1:${port} (operations.host, operations.port)`
    expect([explained.status, explained.stderr]).toEqual([0, `warning: the CRM is read instead: ${why}\n`])
    expect(explained.stdout).toContain('(the CRM was read now)')
    other.closeAllConnections()
    other.close()
  })

  describe.each(RUNTIMES)('on %s', (runtime) => {
    const run = (folder: WorkFolder, ...args: readonly string[]) => runCommand(args, { cwd: folder.path, runtime })

    it('ends where another protocol is spoken, or nothing but interim responses: 1, and why', async () => {
      for (const first of ['101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x', '103 Early Hints']) {
        await using other = await talker(`HTTP/1.1 ${first}\r\n\r\n`)
        using folder = new WorkFolder({ 'marquee.yaml': configuration(`{ port: ${other.port} }`) })
        folder.copySample('crm')
        const [ready, explained] = await Promise.all([run(folder, 'ready'), run(folder, 'explain', SHOWN)])
        expect([ready.status, ready.stdout]).toEqual([1, ''])
        expect(ready.stderr).toMatch(/^not ready: .*127\.0\.0\.1.*\n$/)
        expect([explained.status, explained.stderr.split(': ')[1]]).toEqual([0, 'the CRM is read instead'])
        expect(explained.stdout).toContain('(the CRM was read now)')
      }
    })

    it.each(['{"shown":true,"steps":[null]}', '{"id":"x","kind":null,"shown":false,"steps":[],"also":[{}]}'])(
      'explain is not taken in by another JSON: %s',
      async (body) => {
        await using other = await talker(
          `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
        using folder = new WorkFolder({ 'marquee.yaml': configuration(`{ port: ${other.port} }`) })
        folder.copySample('crm')
        const { status, stdout, stderr } = await run(folder, 'explain', SHOWN)
        expect([status, stderr.split(': ')[1]]).toEqual([0, 'the CRM is read instead'])
        expect(stdout).toContain('(the CRM was read now)')
      },
    )

    it('writes out what an answer could do to a terminal', async () => {
      const body = JSON.stringify({ accepted: ['events\u001b[2J\u009b31m'] })
      await using other = await talker(
        `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      )
      using folder = new WorkFolder({ 'marquee.yaml': configuration(`{ port: ${other.port} }`) })
      const { status, stdout } = await run(folder, 'accept')
      expect([status, stdout]).toEqual([
        0,
        'accepted: the shorter list of events\\u001b[2J\\u009b31m is read now by this instance; if others run without a cluster, run it on each\n',
      ])
    })
  })
})

/** A server that says the same on every connection, and leaves the connection open. */
async function talker(said: string): Promise<AsyncDisposable & { readonly port: number }> {
  const open = new Set<Socket>()
  const server = createTcpServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).once('data', () => socket.write(said))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
