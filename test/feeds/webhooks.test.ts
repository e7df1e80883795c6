import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory, type Settings } from '../support/files-directory.ts'
import { type MarqueeProcess, marquee, serve } from '../support/marquee-process.ts'
import { askOperations, sampleOf } from '../support/operations-client.ts'
import { RUNTIMES } from '../support/depth.ts'
import { WebhookReceiver, verified } from './webhook-receiver.ts'

const GALA = 'a0000000-0000-4000-8000-000000000001'
const READING = 'a0000000-0000-4000-8000-000000000002'
const PRIVATE = 'private-part-of-the-url'

function secretOf(byte: number): string {
  return `whsec_${Buffer.alloc(32, byte).toString('base64')}`
}

function event(Id: string, Name: string): object {
  return { Id, Name, Start: '2036-07-12T18:00:00Z', Finish: '2036-07-12T21:00:00Z', ShowOnWeb: true }
}

describe.each(RUNTIMES)('webhooks on %s', (runtime) => {
  let directory: FilesDirectory
  let receiver: WebhookReceiver
  let running: MarqueeProcess | null = null

  const settings = (...more: readonly Settings[]): Settings => ({
    operations: { port: 0 },
    freshness: { maxAge: '2s', refreshEvery: '200ms' },
    feeds: { changes: 'on' },
    webhooks: [
      { url: `${receiver.origin}/hooks/${PRIVATE}?token=${PRIVATE}`, secret: { file: 'secret' }, every: '1s' },
      ...more,
    ],
  })
  const write = (...events: readonly object[]): void => directory.write('events', JSON.stringify(events))
  const rotate = (byte: number): void => writeFileSync(join(directory.path, 'secret'), secretOf(byte))
  const start = async (): Promise<MarqueeProcess> => (running = await serve(runtime, directory.configuration))
  const stop = async (): Promise<string> => {
    await running?.child.stop()
    const { stdout = '', stderr = '' } = running?.child ?? {}
    running = null
    return stdout + stderr
  }
  const status = async (path: string): Promise<string> =>
    (await askOperations(`${running?.listening.operations ?? ''}${path}`))?.text ?? ''

  beforeEach(() => {
    receiver = new WebhookReceiver()
    directory = new FilesDirectory({}, { events: JSON.stringify([event(GALA, 'Gala')]), venues: '[]' })
    directory.configure(settings())
    rotate(1)
  })

  afterEach(async () => {
    await stop()
    await receiver.stop()
    directory.remove()
  })

  it('are called after a change, and go on from there after a restart and with another secret', async () => {
    await start()
    const [first] = await receiver.atLeast(1)
    expect(first && verified(first, secretOf(1))).toMatchObject({ type: 'reset', data: { Items: [] } })
    write(event(GALA, 'Gala'), event(READING, 'Reading'))
    const [, second] = await receiver.atLeast(2)
    const told = second && verified(second, secretOf(1))
    expect(told).toMatchObject({ type: 'changes', data: { Items: [{ Id: READING, State: 'updated' }] } })
    // Next goes on after what was told.
    const next = await fetch(`${running?.listening.address ?? ''}api${told?.data.Next.slice(1) ?? ''}`)
    expect(await next.json()).toMatchObject({ Items: [], More: false })
    rotate(2)
    running?.child.signal('SIGHUP')
    await running?.child.line((line) => line.includes('"changed":["webhooks"]'))
    write(event(READING, 'Reading'))
    const [, , third] = await receiver.atLeast(3)
    expect(third && verified(third, secretOf(2)).data.Items).toEqual([
      expect.objectContaining({ Id: GALA, State: 'removed' }),
    ] as never)
    await stop()
    // Nothing is told twice after a stop in order, and what changed meanwhile is told.
    write(event(READING, 'Another reading'))
    await start()
    const [, , , fourth] = await receiver.atLeast(4)
    expect(fourth && verified(fourth, secretOf(2))).toMatchObject({
      type: 'changes',
      data: { Items: [{ Id: READING, State: 'updated' }] },
    })
    const log = await stop()
    expect(log).not.toMatch(new RegExp(`${PRIVATE}|whsec_`))
  })

  it('show in /status, metrics and the log what their receiver says, and no secret', async () => {
    receiver.status = 500
    await start()
    const name = `webhooks[0] at ${receiver.origin}/hooks/…`
    const shown = await eventually(
      () => status('status'),
      (text) => text.includes('answered with 500'),
    )
    const { webhooks } = JSON.parse(shown) as { readonly webhooks: readonly { readonly failingSince: string }[] }
    const host = new URL(receiver.origin).host
    expect<readonly object[]>(webhooks).toEqual([
      {
        webhook: name,
        calledAt: null,
        failingSince: new Date(Date.parse(webhooks[0]?.failingSince ?? '')).toISOString(),
        lastError: `${host} answered with 500`,
        isGone: false,
      },
    ])
    const metrics = await status('metrics')
    expect(sampleOf(metrics, `marquee_webhook_calls_total{webhook="${name}",outcome="refused"}`)).toBe(1)
    expect(sampleOf(metrics, `marquee_webhook_calls_total{webhook="${name}",outcome="ok"}`)).toBe(0)
    // A reload tries again at once.
    receiver.status = 204
    rotate(3)
    running?.child.signal('SIGHUP')
    await running?.child.line((line) => line.includes('"what":"recovered"'))
    expect(JSON.parse(await status('status'))).toMatchObject({ webhooks: [{ failingSince: null, lastError: null }] })
    const log = await stop()
    expect(log).toContain(`${name} did not take a call, and is called again: ${host} answered with 500`)
    expect(shown + metrics + log).not.toMatch(new RegExp(`${PRIVATE}|whsec_`))
  })

  it.each([410, 503] as const)(
    'call again at once after %d and a SIGHUP, though no setting has changed',
    async (refusal) => {
      receiver.status = refusal
      receiver.headers = { 'retry-after': '3600' }
      await start()
      await running?.child.line((line) => line.includes('"event":"webhook-changed"'))
      receiver.status = 204
      running?.child.signal('SIGHUP')
      await running?.child.line((line) => line.includes('"what":"recovered"'))
    },
  )

  it('say what is wrong with each receiver, while the good one is called and requests are answered', async () => {
    const answers: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
      '/hangs': () => null,
      '/slow': (response) => response.writeHead(200).write('x'),
      '/huge': (response) => response.end(Buffer.alloc(50_000_000)),
      '/cut': (response) => response.socket?.destroy(),
      '/gone': (response) => response.writeHead(410).end(),
      '/moved': (response) => response.writeHead(301, { location: `${receiver.origin}/redirected` }).end(),
    }
    const bad = createServer((request, response) => {
      request.resume()
      answers[request.url ?? '']?.(response)
    })
    await once(bad.listen(0, '127.0.0.1'), 'listening')
    const host = `127.0.0.1:${(bad.address() as AddressInfo).port}`
    const wrong: Readonly<Record<string, string>> = {
      hangs: `${host} did not answer in full within 10 s`,
      slow: `${host} did not answer in full within 10 s`,
      huge: `the answer of ${host} is too large`,
      cut: `${host} dropped the connection (ECONNRESET)`,
      gone: `${host} answered with 410`,
      moved: `${host} redirects (301), which Marquee does not follow: set the URL that it leads to`,
    }
    directory.configure(
      settings(...Object.keys(wrong).map((path) => ({ url: `http://${host}/${path}`, body: 'empty' }))),
    )
    await start()
    await receiver.atLeast(1)
    write(event(GALA, 'Gala'), event(READING, 'Reading'))
    await receiver.atLeast(2)
    expect((await fetch(`${running?.listening.address ?? ''}api/events/${READING}`)).status).toBe(200)
    const shown = await eventually(
      () => status('status'),
      (text) => text.split('"failingSince":"').length > Object.keys(wrong).length,
    )
    const { webhooks } = JSON.parse(shown) as { readonly webhooks: readonly { readonly lastError: string | null }[] }
    expect(webhooks.map(({ lastError }) => lastError)).toEqual([null, ...Object.values(wrong)])
    expect(receiver.calls.map(({ path }) => path)).not.toContain('/redirected')
    // Calls that wait do not hold up a stop.
    const stopped = performance.now()
    await stop()
    expect(performance.now() - stopped).toBeLessThan(8000)
    bad.closeAllConnections()
    bad.close()
  })

  it('are tried by check --webhooks, by one call that is marked as a test', async () => {
    directory.configure(settings({ url: `${receiver.origin}/build/${PRIVATE}`, body: 'empty' }))
    const args = ['check', '--webhooks', '--config', directory.configuration]
    const good = await marquee(runtime, args)
    expect([good.status, good.stderr]).toEqual([0, expect.not.stringContaining('webhooks')])
    expect(good.stdout).toContain(`webhooks[0] at ${receiver.origin}/hooks/… took a test call.`)
    expect(good.stdout).toContain(`webhooks[1] at ${receiver.origin}/build/… took a test call.`)
    const [test, build] = receiver.calls.toSorted((one, other) => other.text.length - one.text.length)
    expect(test && verified(test, secretOf(1))).toMatchObject({ type: 'test', data: {} })
    expect(build?.text).toBe('')
    expect(build?.headers['webhook-id']).toMatch(/^test_[\w-]{12}$/)
    receiver.status = 401
    const bad = await marquee(runtime, args)
    expect(bad.status).toBe(1)
    expect(bad.stderr).toContain(
      `webhooks[0] at ${receiver.origin}/hooks/…: ${new URL(receiver.origin).host} answered with 401`,
    )
    expect(good.stdout + bad.stdout + bad.stderr).not.toMatch(new RegExp(`${PRIVATE}|whsec_`))
    expect(receiver.calls).toHaveLength(4)
  })
})
