import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'
import { RUNTIMES } from '../support/depth.ts'

const HALL = 'b0000000-0000-4000-8000-000000000001'
const CLUB = 'b0000000-0000-4000-8000-000000000002'
const GALA = 'a0000000-0000-4000-8000-000000000001'
const READING = 'a0000000-0000-4000-8000-000000000002'
const DRAFT = 'a0000000-0000-4000-8000-000000000003'
const SETTINGS = { freshness: { maxAge: '0s' }, feeds: { changes: 'on' }, conditionalRequests: true }

function event(Id: string, Name: string, more: object = {}): object {
  const times = { Start: '2036-07-12T18:00:00Z', Finish: '2036-07-12T21:00:00Z' }
  return { Id, Name, VenueId: HALL, ...times, ShowOnWeb: true, ...more }
}

interface Changes {
  readonly Items: readonly {
    readonly Kind: string
    readonly Id: string
    readonly State: string
    readonly Href: string
  }[]
  readonly Next: string
  readonly More: boolean
}

describe.each(RUNTIMES)('/api/changes on %s', (runtime) => {
  let directory: FilesDirectory
  let running: MarqueeProcess

  beforeAll(async () => {
    directory = new FilesDirectory(SETTINGS, { events: '[]', venues: '[]' })
    running = await serve(runtime, directory.configuration)
  })

  afterAll(async () => {
    await running.child.stop()
    directory.remove()
  })

  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${running.port}${path}`, init)
  const read = async (path: string): Promise<Changes> => (await (await ask(path)).json()) as Changes
  const write = (
    events: readonly object[],
    venues: readonly object[] = [
      { Id: HALL, Name: 'Hall' },
      { Id: CLUB, Name: 'Club' },
    ],
  ): void => {
    directory.write('venues', JSON.stringify(venues))
    directory.write('events', JSON.stringify(events))
  }

  it('tells what is published and what is no longer, and nothing of what never was', async () => {
    const start = await read('/api/changes')
    expect(start).toMatchObject({ Items: [], More: false })
    expect(start.Next).toMatch(/^~\/changes\?since=[\w.-]+$/)
    write([event(GALA, 'Gala'), event(READING, 'Reading'), event(DRAFT, 'Draft', { ShowOnWeb: false })])
    const first = await read(start.Next.slice(1))
    expect(first.Items).toEqual([
      { Kind: 'venue', Id: HALL, State: 'updated', Href: `~/venues/${HALL}` },
      { Kind: 'venue', Id: CLUB, State: 'updated', Href: `~/venues/${CLUB}` },
      { Kind: 'event', Id: GALA, State: 'updated', Href: `~/events/${GALA}` },
      { Kind: 'event', Id: READING, State: 'updated', Href: `~/events/${READING}` },
    ])
    write([event(GALA, 'Gala', { ShowOnWeb: false })], [{ Id: CLUB, Name: 'Club' }])
    const second = await read(`/api${first.Next.slice(1)}`)
    expect(second.Items.map(({ Id, State }) => [Id, State])).toEqual([
      [GALA, 'removed'],
      [READING, 'removed'],
      [HALL, 'removed'],
    ])
    // Withheld, deleted: a caller cannot tell them apart.
    expect(JSON.stringify(second)).not.toContain(DRAFT)
    expect(await read(second.Next.slice(1))).toEqual({ Items: [], Next: second.Next, More: false })
  })

  it('is JSON or HAL JSON, not to be kept by caches, with an ETag and an Age', async () => {
    const { Next } = await read('/api/changes')
    write([event(GALA, `Gala at ${runtime}`)])
    const hal = await ask(Next.slice(1), { headers: { accept: 'application/hal+json' } })
    expect(hal.headers.get('content-type')).toBe('application/hal+json; charset=utf-8')
    expect(hal.headers.get('cache-control')).toBe('no-cache')
    expect(Number(hal.headers.get('age'))).toBeLessThanOrEqual(1)
    const body = (await hal.json()) as { readonly _embedded: { readonly change: readonly object[] } }
    expect(body._embedded.change).toContainEqual({
      Kind: 'event',
      Id: GALA,
      State: 'updated',
      _links: { self: { href: `/events/${GALA}` } },
    })
    const xml = await ask(Next.slice(1), { headers: { accept: 'application/xml' } })
    expect(xml.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const etag = xml.headers.get('etag') ?? ''
    expect((await ask(Next.slice(1), { headers: { 'if-none-match': etag } })).status).toBe(304)
  })

  it('answers an unknown position with 410, and a wrong query with 400', async () => {
    const gone = await ask('/api/changes?since=elsewhere.1')
    expect(gone.status).toBe(410)
    expect(gone.headers.get('content-type')).toBe('application/problem+json')
    expect(await gone.text()).toContain('Ask for changes without since, then read the lists again.')
    for (const query of ['sinc=x', 'wait=30', 'wait=61s', 'since=a&since=b', 'wait=-1s'])
      expect([query, (await ask(`/api/changes?${query}`)).status]).toEqual([query, 400])
    expect((await ask('/api/changes', { method: 'POST' })).status).toBe(405)
  })

  it('waits for a change as long as the caller says', async () => {
    const { Next } = await read('/api/changes')
    const asked = performance.now()
    const empty = await read(`${Next.slice(1)}&wait=1s`)
    expect(empty.Items).toEqual([])
    expect(performance.now() - asked).toBeGreaterThan(900)
    const waiting = read(`${Next.slice(1)}&wait=60s`)
    write([event(GALA, `Gala, changed on ${runtime}`)])
    // A maximum age of 0 reads only as requests come.
    await ask(`/api/events/${GALA}`)
    expect((await waiting).Items.map(({ Id }) => Id)).toContain(GALA)
  })

  it('goes on from the same position after a restart', async () => {
    write([event(GALA, 'Gala')])
    const { Next } = await read('/api/changes')
    await running.child.stop()
    write([event(GALA, 'Gala'), event(READING, 'Reading')])
    running = await serve(runtime, directory.configuration)
    const after = await read(Next.slice(1))
    expect(after.Items.map(({ Id, State }) => [Id, State])).toEqual([[READING, 'updated']])
    // Without a change, too, and a second time.
    await running.child.stop()
    running = await serve(runtime, directory.configuration)
    expect((await read(after.Next.slice(1))).Items).toEqual([])
    expect((await read(Next.slice(1))).Items.map(({ Id }) => Id)).toEqual([READING])
  })

  it('answers 410 once records are written otherwise, after a reload and after a restart, also to callers who wait', async () => {
    const linked = (rel: string): object => {
      const link = { rel, href: 'https://tickets.example.org/{Id}' }
      return { ...SETTINGS, representation: { links: { event: [link] } } }
    }
    const statusOf = async (since: string): Promise<number> => (await ask(since.slice(1))).status
    const before = await read('/api/changes')
    const waiting = ask(`${before.Next.slice(1)}&wait=60s`)
    await Bun.sleep(300)
    directory.configure({ ...linked('tickets') })
    running.child.signal('SIGHUP')
    expect((await waiting).status).toBe(410)
    const reloaded = await read('/api/changes')
    expect([await statusOf(before.Next), await statusOf(reloaded.Next)]).toEqual([410, 200])
    await running.child.stop()
    directory.configure({ ...linked('seats') })
    running = await serve(runtime, directory.configuration)
    const restarted = await read('/api/changes')
    expect([await statusOf(reloaded.Next), await statusOf(restarted.Next)]).toEqual([410, 200])
    await running.child.stop()
    running = await serve(runtime, directory.configuration)
    expect(await statusOf(restarted.Next)).toBe(200)
  })

  it.each(['end', 'resetAndDestroy'] as const)('keeps no place for callers who have hung up, by %s', async (hangUp) => {
    const { Next } = await read('/api/changes')
    const target = Next.replace('~', '/api')
    const sockets: Socket[] = []
    const open = async (): Promise<void> => {
      const socket = connect(running.port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      await once(socket, 'connect')
      socket.write(`GET ${target}&wait=60s HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    }
    const statusOfWaiting = async (): Promise<number> => (await ask(`${target}&wait=1s`)).status
    // Some are refused at once, because so many come at the same time.
    do await Promise.all(Array.from({ length: 500 }, open))
    while (sockets.length < 5000 && (await statusOfWaiting()) !== 503)
    expect(await statusOfWaiting()).toBe(503)
    for (const socket of sockets) socket[hangUp]()
    // Their waits would end by themselves after 60 s.
    await eventually(statusOfWaiting, (status) => status === 200, 30_000)
  })

  it('does not wait beyond the stop of the service', async () => {
    const own = await serve(runtime, directory.configuration)
    const answer = fetch(`http://127.0.0.1:${own.port}/api/changes?wait=60s`)
    await Bun.sleep(300)
    const asked = performance.now()
    await own.child.stop()
    expect((await answer).status).toBe(200)
    expect(performance.now() - asked).toBeLessThan(5000)
  })
})

it('/api/changes is not there unless the configuration turns it on', async () => {
  const directory = new FilesDirectory({}, { events: '[]', venues: '[]' })
  const { child, port } = await serve('bun', directory.configuration)
  for (const path of ['/api/changes', '/changes'])
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(404)
  await child.stop()
  directory.remove()
})
