import { afterEach, describe, expect, it } from 'bun:test'
import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HAS_NGINX, HAS_VARNISH, startVarnish } from '../faults/proxies.ts'
import { Chance } from '../model/chance.ts'
import { Child, type Runtime, ROOT, programOf } from '../support/child.ts'
import { RUNTIMES, SEED } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory, type Settings } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'
import { accepts } from '../support/raw-client.ts'

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const GALA = 'a0000000-0000-4000-8000-000000000001'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function event(Id: string, Name: string, more: object = {}): object {
  return { Id, Name, Start: '2036-07-12T18:00:00Z', Finish: '2036-07-12T21:00:00Z', ShowOnWeb: true, ...more }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'marquee-recipe-'))
  ends.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function killed(child: Child): Promise<void> {
  child.signal('SIGKILL')
  await child.exited
}

/** Runs a program of docs/examples. */
function example(runtime: Runtime, name: string, args: readonly string[], env = {}): Child {
  const child = new Child(programOf(runtime), [join(ROOT, 'docs/examples', name), ...args], { env })
  ends.push(() => killed(child))
  return child
}

/** A Marquee that reads again ten times a second, at a port that stays the same. */
async function lists(settings: Settings): Promise<{ directory: FilesDirectory; origin: string; port: number }> {
  const port = await freePort()
  const freshness = { maxAge: '1h', refreshEvery: '100ms', shrinkGuard: 'off' }
  const feeds = { changes: 'on' }
  const directory = new FilesDirectory(
    { listen: { port }, lists: 'on', freshness, feeds, ...settings },
    { events: '[]', venues: '[]' },
  )
  ends.push(() => directory.remove())
  return { directory, port, origin: `http://127.0.0.1:${port}` }
}

async function started(directory: FilesDirectory): Promise<MarqueeProcess> {
  const running = await serve('bun', directory.configuration)
  ends.push(() => killed(running.child))
  return running
}

async function until(url: string, isIt: (text: string, status: number) => boolean, accept = 'application/json') {
  await eventually(
    async () => {
      const response = await fetch(url, { headers: { accept } })
      return { text: await response.text(), status: response.status }
    },
    ({ text, status }) => isIt(text, status),
  )
}

async function textOf(url: string, accept = 'application/json'): Promise<string> {
  return (await fetch(url, { headers: { accept } })).text()
}

/** The block of docs/webhooks.md that begins with this line. */
function block(first: string): string {
  const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8')
  const found = page.split('```').find((part) => part.split('\n')[1] === first)
  if (found === undefined) throw new Error(`docs/webhooks.md has no block that begins with ${first}`)
  return found.slice(found.indexOf('\n') + 1)
}

describe('a build hook', () => {
  it.each(RUNTIMES)('builds a static site again after a change, on %s', async (runtime) => {
    const hookPort = await freePort()
    const { directory, origin } = await lists({
      webhooks: [{ url: `http://127.0.0.1:${hookPort}/`, body: 'empty', every: '1s' }],
    })
    const site = folder()
    writeFileSync(
      join(site, 'build.mjs'),
      `import { writeFileSync } from 'node:fs'
const { Events } = await (await fetch('${origin}/api/events?limit=200')).json()
writeFileSync('${site}/index.html', Events.map(({ Name }) => '<h2>' + Name + '</h2>').join(''))`,
    )
    example(runtime, 'build-hook.mjs', [String(hookPort), programOf(runtime), join(site, 'build.mjs')])
    await eventually(() => accepts(hookPort), Boolean)
    await started(directory)
    const built = (): Promise<string> =>
      Bun.file(join(site, 'index.html'))
        .text()
        .catch(() => 'not built')
    await eventually(built, (text) => text === '')
    directory.write('events', JSON.stringify([event(GALA, 'Gala')]))
    await eventually(built, (text) => text === '<h2>Gala</h2>')
    directory.write('events', JSON.stringify([event(GALA, 'Gala night')]))
    await eventually(built, (text) => text === '<h2>Gala night</h2>')
  })
})

/** nginx with the block of docs/webhooks.md, in which nothing is changed but ports and paths. */
async function startCachingNginx(servicePort: number): Promise<string> {
  const path = folder()
  const port = await freePort()
  const site = block('proxy_cache_path /var/cache/nginx-events keys_zone=events:10m;')
    .replace('/var/cache/nginx-events', join(path, 'cache'))
    .replace('listen 8090;', `listen 127.0.0.1:${port};`)
    .replace('http://127.0.0.1:8080', `http://127.0.0.1:${servicePort}`)
  mkdirSync(join(path, 'temporary'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${path}/temporary/${kind};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    join(path, 'nginx.conf'),
    `${user} daemon off; pid ${path}/nginx.pid; error_log stderr warn; events {}\nhttp { access_log off; ${temporary.join(' ')}\n${site} }\n`,
  )
  const child = new Child('nginx', ['-p', path, '-c', join(path, 'nginx.conf'), '-e', 'stderr'], { cwd: path })
  ends.push(() => child.stop())
  await eventually(() => accepts(port), Boolean)
  return `http://127.0.0.1:${port}`
}

describe.skipIf(!HAS_NGINX || !HAS_VARNISH)('a receiver that purges nginx and Varnish', () => {
  it.each(RUNTIMES)('has both answer with what has changed, long before it expires, on %s', async (runtime) => {
    const hookPort = await freePort()
    const { directory, port, origin } = await lists({
      operations: { port: 0 },
      webhooks: [{ url: `http://127.0.0.1:${hookPort}/`, secret: { file: 'secret' }, every: '1s' }],
    })
    writeFileSync(join(directory.path, 'secret'), SECRET)
    directory.write('events', JSON.stringify([event(GALA, 'Gala')]))
    const nginx = await startCachingNginx(port)
    const purging = block('acl marquee_purgers { "127.0.0.1"; "::1"; }')
    const varnish = await startVarnish([port], 'marquee.vcl', [['sub vcl_recv {', `${purging}\nsub vcl_recv {`]])
    ends.push(() => varnish.stop())
    const env = { SECRET, MARQUEE: origin, VARNISH: varnish.origin, NGINX: nginx, PORT: String(hookPort) }
    example(runtime, 'purge.mjs', [], env)
    await eventually(() => accepts(hookPort), Boolean)
    const { listening } = await started(directory)
    // What has changed before the first call is not told.
    await until(`${listening.operations}status`, (text) => !text.includes('"calledAt":null'))
    const gala = `/api/events/${GALA}`
    const caches = [nginx, varnish.origin]
    for (const cache of caches) {
      await until(cache + gala, (text) => text.includes('"Gala"'))
      for (const path of [gala, '/api/events?limit=7']) expect(await textOf(cache + path)).toContain('"Gala"')
    }
    expect(await textOf(nginx + gala, 'application/hal+json')).toContain('"Gala"')
    directory.write('events', JSON.stringify([event(GALA, 'Gala night')]))
    for (const cache of caches) await until(cache + gala, (text) => text.includes('"Gala night"'))
    // What was not purged is as it was: nothing has expired meanwhile.
    for (const cache of caches) expect(await textOf(`${cache}/api/events?limit=7`)).toContain('"Gala"')
    expect(await textOf(nginx + gala, 'application/hal+json')).toContain('"Gala"')
    directory.write('events', '[]')
    for (const cache of caches) await until(cache + gala, (_, status) => status === 404)
    // Only this machine may purge, and nobody by accident.
    expect((await fetch(varnish.origin + gala, { method: 'DELETE' })).status).toBe(405)
  })
})

/** A random history of lists, restarts, crashes and lost snapshots, followed by a copy that is killed now and then. */
async function follow(runtime: Runtime, seed: number, steps: number): Promise<{ unknown: number }> {
  const chance = new Chance(seed)
  const { directory, origin } = await lists({ freshness: { maxAge: '2s', refreshEvery: '50ms', shrinkGuard: 'off' } })
  const file = join(folder(), 'copy.db')
  const follower = (): Child => example(runtime, 'copy.mjs', [origin, file])
  const idOf = (kind: string, number: number): string =>
    `${kind}0000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  const write = (): void => {
    const venues = Array.from({ length: 4 }, (_, number) => ({
      Id: idOf('b', number),
      Name: `Hall ${chance.below(3)}`,
    }))
    const rows = Array.from({ length: 12 }, (_, number) => {
      const more = { VenueId: idOf('b', chance.below(4)), ShowOnWeb: chance.happens(0.7) }
      return event(idOf('a', number), `Event ${chance.below(5)}`, more)
    })
    directory.write('venues', JSON.stringify(venues.filter(() => chance.happens(0.7))))
    directory.write('events', JSON.stringify(rows.filter(() => chance.happens(0.8))))
  }
  let unknown = 0
  write()
  let running = await started(directory)
  let copy = follower()
  for (let step = 0; step < steps; step++) {
    const what = chance.below(10)
    if (what < 6) write()
    if (what === 6) await killed(copy)
    if (what === 6) copy = follower()
    if (what > 6) {
      await (what === 7 ? running.child.stop() : killed(running.child))
      if (chance.happens(0.5)) write()
      if (what === 9) rmSync(join(directory.path, '.marquee'), { recursive: true, force: true })
      if (what === 9) unknown++
      running = await started(directory)
    }
    await Bun.sleep(chance.below(300))
  }
  write()
  const served = async (): Promise<string> => {
    const records: [string, unknown][] = []
    for (const [list, kind, count] of [
      ['events', 'a', 12],
      ['venues', 'b', 4],
    ] as const)
      for (let number = 0; number < count; number++) {
        const response = await fetch(`${origin}/api/${list}/${idOf(kind, number)}`)
        if (response.status === 200) records.push([`~/${list}/${idOf(kind, number)}`, await response.json()])
        else if (response.status !== 404) return `not served: ${response.status}`
      }
    return JSON.stringify(records)
  }
  const copied = (): string => {
    const db = new Database(file)
    db.exec('PRAGMA busy_timeout = 5000')
    const rows = db.query<{ href: string; body: string }, []>('SELECT href, body FROM records ORDER BY href').all()
    db.close()
    return JSON.stringify(rows.map(({ href, body }) => [href, JSON.parse(body) as unknown]))
  }
  // The copy must be equal and stay so: at two looks, with more than a refresh between them.
  for (let look = 0; look < 2; look++) {
    await eventually(
      async () => [await served(), copied()],
      ([is = '', was = '']) => is === was && is !== '[]',
      60_000,
    )
    await Bun.sleep(300)
  }
  return { unknown }
}

describe('a copy in SQLite', () => {
  it.each(RUNTIMES)(
    'equals the lists after a random history of changes, restarts and lost positions, on %s',
    async (runtime) => {
      const runs = await Promise.all([0, 1].map((more) => follow(runtime, SEED + more, 25)))
      expect(runs.reduce((sum, { unknown }) => sum + unknown, 0)).toBeGreaterThan(0)
    },
  )
})
