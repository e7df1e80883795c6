import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'
import { Child, programOf } from '../support/child.ts'
import type { Runtime } from '../support/child.ts'
import type { Environment } from './environment.ts'
import { crmSection, fill, openEnvironment } from './environment.ts'
import type { PrivateCa } from './private-ca.ts'
import { createPrivateCa } from './private-ca.ts'
import { RUNTIMES } from '../support/depth.ts'

const ca: PrivateCa = createPrivateCa()
let behind: Environment
let direct: Environment
let proxy: Child
let strictProxy: Child
let port = ''
let strictPort = ''

async function startProxy(...args: readonly string[]): Promise<readonly [Child, string]> {
  const child = new Child(programOf('bun'), ['test/dataverse/forward-proxy.ts', ...args])
  const line = await child.line((text) => text.startsWith('port '))
  return [child, line?.slice(5) ?? '']
}

beforeAll(async () => {
  behind = await openEnvironment({ tls: ca.server, publicOrigin: 'https://crm.test' })
  direct = await openEnvironment({ tls: ca.server })
  for (const environment of [behind, direct]) fill(environment, 12)
  ;[proxy, port] = await startProxy(String(behind.standIn.port))
  ;[strictProxy, strictPort] = await startProxy(String(behind.standIn.port), 'user:pass-word')
})

afterAll(async () => {
  await Promise.all([proxy.stop(), strictProxy.stop()])
  behind.standIn.close()
  direct.standIn.close()
  rmSync(ca.directory, { recursive: true })
})

interface Checked {
  readonly status: unknown
  readonly report: { readonly ok: boolean; readonly events: number; readonly problems: readonly string[] }
  readonly output: string
}

async function check(
  runtime: Runtime,
  { standIn }: Environment,
  keys: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Checked> {
  const crm = crmSection(standIn, keys)
  const path = join(ca.directory, `${runtime}-${Math.random()}.yaml`)
  writeFileSync(path, JSON.stringify({ crm }))
  const child = new Child(programOf(runtime), ['src/main.ts', 'check', '--json', '--config', path], {
    env: { SECRET: standIn.directory.secret, ...env },
  })
  const status = await child.exited
  return { status, report: JSON.parse(child.stdout) as Checked['report'], output: child.stdout + child.stderr }
}

const ALL_WELL = { status: 0, report: { ok: true, events: 12, problems: [] } }

for (const runtime of RUNTIMES) {
  describe(`the way out, on ${runtime}`, () => {
    it('leads through crm.proxy, with its user, and trusts crm.ca', async () => {
      const env = {
        PROXY: `http://user:pass-word@127.0.0.1:${strictPort}`,
        HTTPS_PROXY: 'http://127.0.0.1:9',
        NO_PROXY: '*',
      }
      const checked = await check(runtime, behind, { ca: ca.path, proxy: { env: 'PROXY' } }, env)
      expect(checked).toMatchObject(ALL_WELL)
      expect(strictProxy.stdout).toContain('CONNECT crm.test:443')
    })

    it('leads through HTTPS_PROXY, but not to whom NO_PROXY exempts', async () => {
      const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` }
      expect(await check(runtime, behind, { ca: ca.path }, env)).toMatchObject(ALL_WELL)
      const before = proxy.stdout
      expect(
        await check(runtime, direct, { ca: ca.path }, { ...env, NO_PROXY: 'example.org,127.0.0.1' }),
      ).toMatchObject(ALL_WELL)
      expect(proxy.stdout).toBe(before)
    })

    it('does not trust a private authority by itself, and says what helps', async () => {
      const { status, report } = await check(runtime, direct, {})
      expect([status, report.ok]).toEqual([1, false])
      expect(report.problems.join()).toContain('crm.ca')
    })

    it('says what is wrong with a certificate, and sends no secret before it is accepted', async () => {
      const received: string[] = []
      const take = (request: IncomingMessage, response: ServerResponse): void => {
        received.push(request.url ?? '')
        response.end()
      }
      const expired = createSecureServer(ca.expired, take)
      const plain = createServer(take)
      const told = async (server: Server | null, host: string): Promise<string> => {
        if (server !== null) await once(server.listen(0, '127.0.0.1'), 'listening')
        const address = server?.address()
        const at = typeof address === 'object' && address !== null ? address.port : direct.standIn.port
        const origin = `https://${host}:${at}`
        const checked = await check(runtime, direct, { url: origin, authority: origin, ca: ca.path })
        server?.close()
        expect([checked.status, checked.output.includes(direct.standIn.directory.secret)]).toEqual([1, false])
        return checked.report.problems.join()
      }
      expect(await told(expired, '127.0.0.1')).toContain('has a certificate that has expired: renew it on the server')
      expect(await told(null, 'localhost')).toContain('that is for another host: use a host name that it contains')
      expect(await told(plain, '127.0.0.1')).toContain('did not agree on TLS: make sure that this port uses it')
      expect(received).toEqual([])
    })

    it('says that the proxy refuses, without its password', async () => {
      const env = { PROXY: `http://user:wrong-word@127.0.0.1:${strictPort}` }
      const { status, report, output } = await check(runtime, behind, { ca: ca.path, proxy: { env: 'PROXY' } }, env)
      expect(status).toBe(1)
      expect(report.problems.join()).toContain('proxy')
      expect(output).not.toContain('wrong-word')
    })

    it('holds no certificates in crm.ca: a wrong configuration', async () => {
      const { status, report } = await check(runtime, direct, { ca: join(ca.directory, 'extensions') })
      expect(status).toBe(2)
      expect(report.problems.join()).toContain('crm.ca')
    })
  })
}
