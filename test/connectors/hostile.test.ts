import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { appendFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { Child, ROOT, programOf } from '../support/child.ts'
import { RUNTIMES } from '../support/depth.ts'
import { JsonServer } from './json-server.ts'
import { eventRow, idNumbered } from './own-crm.ts'
import { ConnectorFolder, OwnService, SECRET, until } from './own-service.ts'

const ROTATED = 'key-after-the-rotation'

/** A connector that misbehaves as the CRM tells it. */
const MODULE = `import type { Connector } from './marquee-connector.d.ts'
import { writeSync } from 'node:fs'

declare const process: any, Buffer: any, setTimeout: any

const kept: unknown[] = []

export default {
  api: 1,
  settings: { url: 'url', token: 'secret' },
  events: {
    async *full({ http, settings }) {
      const { mode } = await http.get(\`\${settings.url}/mode\`)
      if (mode === 'loop') for (;;);
      if (mode === 'never') await new Promise(() => {})
      if (mode === 'floating') void Promise.reject(new RangeError('a row of ' + settings.token))
      if (mode === 'memory') {
        for (let megabytes = 0; megabytes < 1200; megabytes += 2) {
          kept.push(Buffer.alloc(2 * 1024 * 1024, 1))
          yield []
        }
      }
      if (mode === 'parse') JSON.parse('[' + '{"a":"bcdefgh","n":[1,2,3]},'.repeat(1_900_000) + '1]')
      if (mode === 'exit') process.exit(3)
      if (mode === 'print') {
        console.log('the token is ' + settings.token)
        process.stdout.write('without an end, ')
        writeSync(1, 'and at once\\n')
      }
      if (mode === 'throw') throw new TypeError('a row of ' + settings.token)
      if (mode === 'stray') {
        const { spawn } = await import('node:child_process')
        spawn('sleep', ['20'], { detached: true, stdio: 'inherit' })
        process.exit(4)
      }
      if (mode === 'stack') throw Object.assign(new RangeError('a row'), { stack: ['a row'] })
      if (mode === 'env') console.log('there is ' + Object.keys(process.env).join())
      yield await http.get(\`\${settings.url}/events\`, { bearer: settings.token })
    },
    fields: { Id: 'id', Name: 'name', Start: 'starts', Finish: 'ends', TicketCapacity: 'seats', TicketsAvailable: 'sold', Price: null },
  },
  venues: { full: ({ http, settings }) => http.pages(\`\${settings.url}/venues\`, { by: 'none', whole: true }), fields: { Id: 'id', Name: 'name' } },
} satisfies Connector
`

/** What it does, what is said of it, and the runtime, if all that happens is that it is ended from outside. */
const MISDEEDS = [
  ['loop', 'our-crm.ts sent nothing for 3 s, and was ended', 'bun'],
  ['never', 'our-crm.ts sent nothing for 3 s, and was ended', RUNTIMES.at(-1)],
  ['memory', 'MB of memory, more than crm.memory, and was ended', 'bun'],
  ['exit', 'our-crm.ts ended with status 3', 'any'],
  ['stray', 'our-crm.ts ended with status 4', 'any'],
  ['stack', 'our-crm.ts threw RangeError', 'any'],
  ['throw', 'our-crm.ts:30 threw TypeError', 'any'],
  ['floating', 'our-crm.ts:16: a rejected promise that was not awaited (RangeError)', 'any'],
  ['print', 'our-crm.ts says: the token is [secret]', 'any'],
] as const

describe.each(RUNTIMES)('a hostile connector, on %s', (runtime) => {
  let server: JsonServer
  let folder: ConnectorFolder
  let service: OwnService
  let mode = 'good'
  let isThrottled = false
  let expected = SECRET

  beforeAll(async () => {
    server = await JsonServer.open(({ path, headers }) => {
      if (path === '/mode') return { json: { mode } }
      if (isThrottled) return { status: 429, headers: { 'retry-after': '120' } }
      if (path === '/events' && headers.authorization !== `Bearer ${expected}`) return { status: 401 }
      return { json: path === '/events' ? [eventRow(1), eventRow(2)] : [{ id: idNumbered(9), name: 'Hall' }] }
    })
    folder = new ConnectorFolder(server, { 'our-crm.ts': MODULE }, 'kind: module\npath: ./our-crm.ts\nmemory: 900MB')
    service = await OwnService.start(runtime, folder, idNumbered(1))
  })

  afterAll(async () => {
    await service.stop()
    await server.close()
    folder[Symbol.dispose]()
  })

  /** Lets the connector misbehave until the log says so, then lets it be good again. */
  async function after(misdeed: string, said: string): Promise<void> {
    const before = service.log.length
    mode = misdeed
    await service.says(said, before)
    mode = 'good'
    await service.recovers()
  }

  it('is named with its digest in the first log line and in /status', async () => {
    const connector = [{ file: folder.at('our-crm.ts'), sha256: createHash('sha256').update(MODULE).digest('hex') }]
    expect(service.listening).toMatchObject({ event: 'listening', connector })
    expect(await service.status()).toMatchObject({ connector })
  })

  it.each(MISDEEDS.filter(([, , on]) => on === 'any' || on === runtime))(
    'is ended or told of where it does this: %s',
    async (misdeed, said) => {
      await after(misdeed, said)
    },
  )
  it('may print what it likes, which is no row', async () => {
    await after('print', 'and at once"')
  })

  it('gets an environment of PATH alone', async () => {
    await after('env', 'our-crm.ts says: there is PATH"')
  })

  it('holds up nobody while it parses 50 MB at once', async () => {
    service.longestTurnMs = 0
    const asked = (): number => server.asked.filter(({ path }) => path === '/mode').length
    const before = asked()
    mode = 'parse'
    // Two further reads, of which the first has parsed.
    await until(() => asked() > before + 2)
    mode = 'good'
    await service.recovers()
    expect(service.longestTurnMs).toBeLessThan(500)
  })

  it('is begun again after its process was killed', async () => {
    const pid = service.childPid
    process.kill(Number(pid), 'SIGKILL')
    await service.says('was ended by SIGKILL')
    await until(() => service.childPid !== null && service.childPid !== pid)
    await service.recovers()
  })

  it('takes a secret that was replaced, when the CRM refuses the old one', async () => {
    folder.write('crm.key', ROTATED)
    expected = ROTATED
    const asked = server.asked.length
    await until(() =>
      server.asked
        .slice(asked)
        .some(({ path, headers }) => path === '/events' && headers.authorization === `Bearer ${ROTATED}`),
    )
    expect(service.log).not.toContain('refuses the key')
  })

  it('is not ended while the CRM asks it to wait for two minutes', async () => {
    isThrottled = true
    await service.says('asks for fewer requests (429)')
    const pid = service.childPid
    await Bun.sleep(5000)
    expect(service.childPid).toBe(pid)
    // A read in the middle of a list waits; one that has no answer yet fails, and is begun again after the pause.
    expect(service.log).toMatch(/asks for fewer requests \(429\) until .* UTC|waits for 120 s: /)
    isThrottled = false
  })

  it('is not taken in its new version until a restart', async () => {
    appendFileSync(folder.at('our-crm.ts'), '// edited\n')
    service.hangUp()
    await service.says('the changed file of crm.path takes effect at the next start')
    process.kill(Number(service.childPid), 'SIGKILL')
    await service.says('our-crm.ts has changed since the service was started: restart Marquee to use the new file')
  })

  it('cost no caller anything', async () => {
    await until(() => service.answers > 300)
    expect(service.bad).toEqual([])
    expect(service.log).not.toContain(SECRET)
    expect(service.log).not.toContain(ROTATED)
  })
})

/** A connector that starts a program which prints to the same standard output, while rows are on their way. */
const WITH_PROGRAM = `import { spawn } from 'node:child_process'
const row = { starts: '2036-05-01T19:30:00Z', ends: '2036-05-01T21:30:00Z', name: 'x'.repeat(500) }

export default {
  api: 1,
  settings: { url: 'url', token: 'secret' },
  events: {
    async *full() {
      const print = 'for i in $(seq 20000); do echo a line of a program; done'
      const program = spawn('sh', ['-c', print], { stdio: ['ignore', 'inherit', 'inherit'] })
      const ended = new Promise((resolve) => program.on('close', resolve))
      for (let from = 1; from < 5000; from += 1000)
        yield Array.from({ length: 1000 }, (_, at) => ({ ...row, id: '00000000-0000-4000-8000-' + String(from + at).padStart(12, '0') }))
      await ended
    },
    fields: { Id: 'id', Name: 'name', Start: 'starts', Finish: 'ends' },
  },
  venues: { async *full() { yield [] }, fields: { Id: 'id', Name: 'name' } },
}
`

it.each(RUNTIMES)('a connector loses no row to a program that prints beside it, on %s', async (runtime) => {
  const server = await JsonServer.open()
  using folder = new ConnectorFolder(server, { 'our-crm.mjs': WITH_PROGRAM }, 'kind: module\npath: ./our-crm.mjs')
  const child = new Child(programOf(runtime), [`${ROOT}/src/main.ts`, 'check', '--config', folder.configuration])
  await child.exited
  await server.close()
  expect(child.stdout).toMatch(/^5,000 events and 0 venues would be served\.$/m)
})

it.each(RUNTIMES)('a connector whose import never ends is ended after 5 s, on %s', async (runtime) => {
  const server = await JsonServer.open()
  using folder = new ConnectorFolder(server, { 'our-crm.mjs': 'for (;;) {}' }, 'kind: module\npath: ./our-crm.mjs')
  const child = new Child(programOf(runtime), [`${ROOT}/src/main.ts`, 'check', '--config', folder.configuration])
  await child.exited
  await server.close()
  expect(child.stderr).toContain('our-crm.mjs held its event loop for more than 5 s, and was ended')
})
