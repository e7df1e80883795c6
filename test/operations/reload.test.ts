import { describe, expect, it } from 'bun:test'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Child, programOf, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve, untilListening } from '../support/marquee-process.ts'
import { RUNTIMES } from '../support/depth.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const EVENT = { Id: ID, Name: 'Tosca', Start: '2026-07-12T19:30:00Z', Finish: '2026-07-12T21:30:00Z', ShowOnWeb: true }
const SETTINGS = { operations: { port: 0 }, freshness: { maxAge: '1h', refreshEvery: '1h' } }

function configure(directory: FilesDirectory, settings: Readonly<Record<string, unknown>>): void {
  const crm = { kind: 'files', directory: './crm' }
  writeFileSync(directory.configuration, JSON.stringify({ listen: { port: 0 }, crm, ...SETTINGS, ...settings }))
}

/** Reads the configuration again, and waits for what is said of it. */
async function reload(child: Child): Promise<string> {
  const before = said(child).length
  child.signal('SIGHUP')
  return (
    (
      await eventually(
        async () => said(child),
        (lines) => lines.length > before,
      )
    ).at(-1) ?? ''
  )
}

function said(child: Child): readonly string[] {
  return child.stdout.split('\n').filter((line) => /"event":"reload/.test(line))
}

describe.each(RUNTIMES)('SIGHUP on %s', (runtime) => {
  it('makes settings take effect, with the records that are held, on the connections that are open', async () => {
    const directory = new FilesDirectory(SETTINGS, { events: JSON.stringify([EVENT]), venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const get = (headers = {}): Promise<Response> =>
      fetch(`${listening.address}api/events/${ID}`, { headers: { Accept: 'application/hal+json', ...headers } })
    const before = await get()
    expect(before.headers.get('cache-control')).toMatch(/max-age=35\d\d|max-age=3600/)
    const etag = before.headers.get('etag') ?? ''
    expect((await get({ 'If-None-Match': etag })).status).toBe(200)
    // Nobody can read the CRM again: what is answered below is what is held.
    renameSync(directory.crm, `${directory.crm}.gone`)
    configure(directory, {
      freshness: { maxAge: '30m', refreshEvery: '1h' },
      conditionalRequests: true,
      log: { requests: true },
      limits: { idle: '1s', drain: '5s' },
      representation: { links: { event: [{ rel: 'tickets', href: 'https://tickets.example.org/{Id}' }] } },
    })
    expect(JSON.parse(await reload(child))).toMatchObject({
      event: 'reloaded',
      changed: [
        'freshness.maxAge',
        'representation.links.event',
        'conditionalRequests',
        'limits.idle',
        'limits.drain',
        'log.requests',
      ],
    })
    const after = await get()
    expect(after.status).toBe(200)
    expect(after.headers.get('cache-control')).toMatch(/max-age=1[78]\d\d/)
    expect(await after.text()).toContain(`https://tickets.example.org/${ID}`)
    expect(after.headers.get('etag')).not.toBe(etag)
    expect((await get({ 'If-None-Match': after.headers.get('etag') ?? '' })).status).toBe(304)
    await child.line((line) => line.includes('"request-answered"'))
    expect(await (await fetch(`${listening.operations ?? ''}status`)).text()).toContain('"maxAgeMs":1800000')
    expect(await child.stop()).toBe(0)
    expect(child.stdout).toContain('"drainMs":5000')
    directory.remove()
  })

  it('reads the lists as often as is said then', async () => {
    const directory = new FilesDirectory(SETTINGS, { events: JSON.stringify([EVENT]), venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    directory.write('events', '[]')
    configure(directory, { freshness: { maxAge: '1h', refreshEvery: '50ms', shrinkGuard: 'off' } })
    await reload(child)
    await eventually(
      async () => (await fetch(`${listening.address}api/events/${ID}`)).status,
      (status) => status === 404,
    )
    await child.stop()
    directory.remove()
  })

  it('switches lists and the description on and off, and links in a list are those of now', async () => {
    const directory = new FilesDirectory(SETTINGS, { events: JSON.stringify([EVENT]), venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const list = async (): Promise<Response> => fetch(`${listening.address}api/events?from=2020-01-01`)
    const described = async (): Promise<Response> => fetch(`${listening.address}api/openapi.json`)
    expect([(await list()).status, (await described()).status]).toEqual([400, 200])
    configure(directory, { lists: true, describe: false })
    await reload(child)
    const page = await eventually(list, ({ status }) => status === 200)
    expect(await page.text()).toContain('"Name":"Tosca"')
    expect((await described()).status).toBe(404)
    const representation = { links: { event: [{ rel: 'tickets', href: 'https://tickets.example.org/{Id}' }] } }
    configure(directory, { lists: true, representation })
    await reload(child)
    expect(await (await list()).text()).toContain('https://tickets.example.org/')
    expect(await (await described()).text()).toContain('"/api/events"')
    configure(directory, {})
    await reload(child)
    expect((await list()).status).toBe(400)
    expect(await (await described()).text()).not.toContain('"/api/events"')
    await child.stop()
    directory.remove()
  })

  it('leaves all as it was where anything else changed, or anything is wrong, and says why', async () => {
    const directory = new FilesDirectory(SETTINGS, { events: JSON.stringify([EVENT]), venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const refused = async (): Promise<string> => {
      const line = await reload(child)
      expect(line).toContain('"event":"reload-refused"')
      const answer = await fetch(`${listening.address}api/events/${ID}`)
      expect(answer.headers.get('cache-control')).toMatch(/max-age=3[56]/)
      return line
    }
    configure(directory, { freshness: { maxAge: '1s' }, timeZone: 'Europe/Berlin', listen: { port: 1 } })
    expect(await refused()).toContain('listen.port, timeZone, crm.timeZone have changed')
    configure(directory, { freshness: { maxAge: '1s' }, limits: { waiting: -1 }, lisst: true })
    expect(await refused()).toMatch(/limits\.waiting.*lisst/)
    const status = async (): Promise<unknown> => (await fetch(`${listening.operations ?? ''}status`)).json()
    expect(JSON.stringify(await status())).toMatch(
      /"reload":{"at":"20[^"]*Z","problems":\["[^"]*limits\.waiting.*lisst/,
    )
    renameSync(directory.configuration, `${directory.configuration}.away`)
    expect(await refused()).toContain('marquee.yaml')
    configure(directory, { freshness: { maxAge: '1s' } })
    expect(await reload(child)).toContain('"event":"reloaded"')
    expect(await status()).not.toHaveProperty('reload')
    await child.stop()
    directory.remove()
  })

  it('names the configuration that counts now, where the file that was found at the start is gone', async () => {
    const directory = new FilesDirectory(SETTINGS, { events: JSON.stringify([EVENT]), venues: '[]' })
    const args = [join(ROOT, 'src/main.ts'), 'serve', '--port', '0', '--operations-port', '0']
    const { child } = await untilListening(new Child(programOf(runtime), args, { cwd: directory.path }))
    renameSync(directory.configuration, `${directory.configuration}.away`)
    expect(await reload(child)).toContain('the configuration is now the sample, as there is no marquee.yaml here')
    await child.stop()
    directory.remove()
  })

  it('a hundred times under load loses no answer, and leaks nothing', async () => {
    const directory = new FilesDirectory(SETTINGS, { events: JSON.stringify([EVENT]), venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const load = { isOver: false, answers: 0 }
    const client = async (): Promise<void> => {
      while (!load.isOver) {
        const answer = await fetch(`${listening.address}api/events/${ID}`)
        expect([answer.status, (await answer.text()).includes('Tosca')]).toEqual([200, true])
        load.answers++
      }
    }
    const clients = Array.from({ length: 4 }, client)
    let before = { files: 0, bytes: 0 }
    for (let times = 0; times < 100; times++) {
      configure(directory, {
        conditionalRequests: times % 2 === 0,
        limits: { idle: times % 2 === 0 ? '60s' : '75s' },
        representation: { namespace: `Run${times}` },
      })
      expect(await reload(child)).toContain('"event":"reloaded"')
      if (times === 20) before = held(child)
    }
    const after = held(child)
    load.isOver = true
    await Promise.all(clients)
    expect(load.answers).toBeGreaterThan(100)
    expect(after.files).toBe(before.files)
    expect(after.bytes - before.bytes).toBeLessThan(48 * 1024 * 1024)
    await child.stop()
    directory.remove()
  })
})

/** The files that a process holds open, and the memory it takes. */
function held({ pid }: Child): { readonly files: number; readonly bytes: number } {
  const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
  return { files: readdirSync(`/proc/${pid}/fd`).length, bytes: Number(pages) * 4096 }
}
