import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { Child, ROOT } from '../support/child.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { installedProgram } from '../support/installed-program.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'
import { type OldService, listsOfRecords, oldRecords, startOldService } from './old-service.ts'

const PAGE = readFileSync(join(ROOT, 'docs/switching.md'), 'utf8')

/** The code blocks of the page in one language. */
function blocks(language: string): readonly string[] {
  return Array.from(PAGE.matchAll(/^```(\w*)\n([^]*?)^```/gm))
    .filter(([, of]) => of === language)
    .map(([, , text = '']) => text.trim())
}

const COMMANDS = blocks('sh')
const SAID = blocks('')
const [SETTINGS = ''] = blocks('yaml')
const [NGINX = ''] = blocks('nginx')

describe.each(BOTH_RUNTIMES)('the walk of docs/switching.md, on %s', (runtime) => {
  let folder: WorkFolder
  let old: OldService
  let running: MarqueeProcess

  beforeAll(async () => {
    const { events, venues } = listsOfRecords()
    const ids = oldRecords().map(({ id }) => id)
    const line = (path: string): string =>
      `203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET ${path} HTTP/1.1" 200 512 "-" "-"`
    const log = [line(`/api/events/${ids[0]}`), line(`/api/events/${ids[0]}?x=1`), line('/favicon.ico')].join('\n')
    folder = new WorkFolder({
      'marquee.yaml': `${SETTINGS.replace('basePath: /', 'basePath: /, port: 0')}\noperations: null\ncrm: { kind: files, directory: ./crm }\n`,
      'crm/events.json': events,
      'crm/venues.json': venues,
      'ids.txt': `${ids[0]}\n`,
      'access.log.gz': gzipSync(log),
    })
    old = await startOldService()
    running = await serve(runtime, folder.at('marquee.yaml'))
  })
  afterAll(async () => {
    await running.child.stop()
    await old.close()
    folder[Symbol.dispose]()
  })

  it('has a command for each step', () => {
    expect([COMMANDS.length, SAID.length]).toEqual([5, 2])
  })

  it.each(COMMANDS)('%s', async (command) => {
    const [program, ...args] = command
      .replace('https://old.example.org', old.address)
      .replace('http://127.0.0.1:8080', running.listening.address)
      .split(' ')
    expect(program).toBe('./marquee')
    const { status, stdout } = await runCommand([...args, '--rate', '2000/s'], { cwd: folder.path, runtime })
    expect(status).toBe(0)
    expect(stdout).toContain('othing is different in ')
    const [said] = SAID.filter((_, index) => command === COMMANDS[index * 2])
    if (said !== undefined) expect(stdout).toContain(said)
    const report = /--report (\S+)/.exec(command)?.[1]
    if (report !== undefined) expect(readFileSync(folder.at(report), 'utf8')).toContain('Nothing is different in ')
  })

  it.skipIf(installedProgram('nginx') === null)(
    'its nginx switches to Marquee and back again by one line',
    async () => {
      const port = await freePort()
      const site = NGINX.replace('127.0.0.1:8088', `127.0.0.1:${port}`)
        .replace('127.0.0.1:8390', new URL(old.address).host)
        .replace('127.0.0.1:8080', new URL(running.listening.address).host)
      const write = (servers: string): void =>
        folder.write(
          'nginx.conf',
          `pid ${folder.path}/nginx.pid; error_log stderr;\nevents {}\nhttp { access_log off; ${servers} }\n`,
        )
      write(site)
      const nginx = new Child('nginx', ['-p', folder.path, '-c', folder.at('nginx.conf'), '-g', 'daemon off;'])
      const server = async (): Promise<string> => {
        const answer = await fetch(`http://127.0.0.1:${port}/api/events/${oldRecords()[0]?.id}`).catch(() => null)
        await answer?.arrayBuffer()
        return `${answer?.status} ${answer?.headers.has('age') === true ? 'Marquee' : 'old'}`
      }
      await eventually(server, (who) => who === '200 old')
      for (const [pass, who] of [
        ['http://marquee', 'Marquee'],
        ['http://old', 'old'],
      ] as const) {
        write(site.replace('proxy_pass http://old', `proxy_pass ${pass}`))
        nginx.signal('SIGHUP')
        await eventually(server, (answered) => answered === `200 ${who}`)
      }
      await nginx.stop()
    },
  )
})

it('docs/switching.md explains every intended difference by the name that reports use', () => {
  const source = readFileSync(join(ROOT, 'src/compare/judge.ts'), 'utf8')
  const names = Array.from(
    /const DEPARTURES = \{([^]*?)\}/.exec(source)?.[1]?.matchAll(/'([^']+)'/g) ?? [],
    ([, name = '']) => name,
  )
  expect(names.length).toBe(11)
  for (const name of names) expect(PAGE).toContain(`\n| ${name} |`)
})
