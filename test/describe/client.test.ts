import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import { join } from 'node:path'
import { MarqueeClient, MarqueeError } from '../../docs/examples/marquee-client.ts'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'
import type { Told } from './use-client.ts'

const sample = (list: string): string => readFileSync(join(ROOT, 'sample', `${list}.json`), 'utf8')
const TOLD: Told = {
  name: 'Rope & Reel: an evening of sea songs',
  start: '2036-05-09T18:30:00+00:00',
  price: 18.5,
  digits: '18.50',
  venue: 'Lantern Hall',
  missing: null,
  refused: [400, 'The id must be a GUID, such as 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34, and not the empty one.'],
  on: 7,
  first: '2036-05-09T18:30:00+00:00',
  venues: 8,
}

describe('docs/examples/marquee-client.ts', () => {
  const directory = new FilesDirectory(
    { lists: 'on', listen: { basePath: '/v1' } },
    { events: sample('events'), venues: sample('venues') },
  )
  const served = new Map<Runtime, MarqueeProcess>()
  beforeAll(async () => {
    for (const runtime of ['bun', 'node'] as const) served.set(runtime, await serve(runtime, directory.configuration))
  })
  afterAll(async () => {
    for (const { child } of served.values()) await child.stop()
    directory.remove()
  })
  const addressOf = (runtime: Runtime): string => `${served.get(runtime)?.listening.address ?? ''}v1/`

  it.each([
    ['bun', 'bun'],
    ['node', 'node'],
    ['bun', 'node'],
  ] as const)('reads what is there on %s, from Marquee on %s', async (runtime, of) => {
    const child = new Child(programOf(runtime), [join(ROOT, 'test/describe/run-client.ts'), addressOf(of)])
    await child.exited
    expect(child.stderr).toBe('')
    expect(JSON.parse(child.stdout)).toEqual(TOLD)
  })

  it.skipIf(CHROMIUM === null)('reads it in Chromium, from a page elsewhere', async () => {
    const transpiler = new Bun.Transpiler({ loader: 'ts' })
    const files = new Map(
      ['test/describe/use-client.ts', 'docs/examples/marquee-client.ts'].map((path) => [
        `/${path}`,
        transpiler.transformSync(readFileSync(join(ROOT, path), 'utf8')),
      ]),
    )
    const { address, site } = await listen((request, response) => {
      const script = files.get(request.url ?? '')
      response
        .setHeader('Content-Type', script === undefined ? 'text/html' : 'text/javascript')
        .end(script ?? '<title>x</title>')
    })
    const browser = await openBrowser()
    const page = await browser.newPage()
    await page.goto(address)
    const used = `import('/test/describe/use-client.ts').then(({ useClient }) => useClient('${addressOf('node')}'))`
    expect(await page.evaluate<Told>(used)).toEqual(TOLD)
    await browser.close()
    site.close()
  })
})

it('the client walks from page to page, each event once', async () => {
  const ids = Array.from(
    { length: 120 },
    (_, index) => `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
  )
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T21:30:00Z', ShowOnWeb: true }
  const events = JSON.stringify(ids.map((Id) => ({ Id, ...times })))
  const many = new FilesDirectory({ lists: 'on' }, { events, venues: '[]' })
  const { child, listening } = await serve('bun', many.configuration)
  const walked: string[] = []
  for await (const { Id } of new MarqueeClient(listening.address).whatsOn()) walked.push(Id)
  expect(walked).toEqual(ids)
  await child.stop()
  many.remove()
})

describe('the client, where something is wrong', () => {
  const problem = { type: 'about:blank', title: 'Bad Gateway', status: 502, detail: 'Later.', instance: '/' }

  it('waits as Retry-After says, while its patience lasts', async () => {
    let asked = 0
    const { address, site } = await listen((_, response) => {
      if (asked++ > 0) response.end('{"Id":"x","Price":1.50,"Name":"\\"2.50","_links":{}}')
      else response.writeHead(502, { 'Retry-After': '1' }).end(JSON.stringify(problem))
    })
    expect(await new MarqueeClient(address, { decimals: 'text' }).event('x')).toMatchObject({
      Price: '1.50',
      Name: '"2.50',
    })
    expect(asked).toBe(2)
    site.close()
  })

  it('throws the problem where it is not to wait, and says the status of what is no problem', async () => {
    const { address, site } = await listen((request, response) => {
      if (request.url?.includes('venues') === true) response.writeHead(503).end('<h1>Sorry</h1>')
      else response.writeHead(502, { 'Retry-After': '31' }).end(JSON.stringify(problem))
    })
    const client = new MarqueeClient(address)
    const refused = await client.event('x').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(MarqueeError)
    expect(refused).toMatchObject({ status: 502, message: 'Later.', problem })
    expect(await client.venue('x').catch((error: unknown) => error)).toMatchObject({ status: 503, problem: null })
    site.close()
  })

  it('ends a wait when it is told to', async () => {
    const { address, site } = await listen((_, response) => {
      response
        .writeHead(502, { 'Retry-After': '20' })
        .end(JSON.stringify(problem), () => ending.abort(new Error('enough')))
    })
    const ending = new AbortController()
    const ended = await new MarqueeClient(address, { signal: ending.signal })
      .event('x')
      .catch((error: unknown) => error)
    expect(ended).toMatchObject({ message: 'enough' })
    site.close()
  })
})

async function listen(answer: RequestListener): Promise<{ readonly address: string; readonly site: Server }> {
  const site = createServer(answer).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const bound = site.address()
  return { site, address: `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}/` }
}
