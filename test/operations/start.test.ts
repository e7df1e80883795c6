import { expect, it } from 'bun:test'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { ZONE_DATA_VERSION } from '../../src/domain/zone-data.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve, untilListening } from '../support/marquee-process.ts'

const SETTINGS = { operations: { port: 0 }, freshness: { maxAge: '1h', refreshEvery: '1h' } }

it.each(['bun', 'node'] as Runtime[])(
  'a start on %s reads each list once, and says that it listens when all answers, the description too',
  async (runtime) => {
    const directory = new FilesDirectory(SETTINGS, { events: '[]', venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const metrics = await (await fetch(`${listening.operations}metrics`)).text()
    expect(metrics).toContain('\nmarquee_crm_requests_total{outcome="ok"} 2\n')
    expect((await fetch(`${listening.address}api/openapi.json`)).status).toBe(200)
    expect(await child.stop()).toBe(0)
    directory.remove()
  },
)

it.each(['bun', 'node'] as Runtime[])(
  'names the release of the time zone data in the log and in /status, on %s',
  async (runtime) => {
    const directory = new FilesDirectory(SETTINGS, { events: '[]', venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const status: unknown = await (await fetch(`${listening.operations}status`)).json()
    expect([listening, status]).toMatchObject(Array.from({ length: 2 }, () => ({ timeZoneData: ZONE_DATA_VERSION })))
    await child.stop()
    directory.remove()
  },
)

it('a start with staleIfError says what callers get if the CRM fails, to people and to programs', async () => {
  const freshness = { maxAge: '1h', staleIfError: '12h' }
  const directory = new FilesDirectory({ operations: null, freshness }, { events: '[]', venues: '[]' })
  const { child, listening } = await serve('bun', directory.configuration)
  expect(listening).toMatchObject({ staleIfErrorMs: 43_200_000 })
  await child.stop()
  const command = `exec ${programOf('bun')} src/main.ts serve --config ${directory.configuration}`
  const terminal = new Child('script', ['-qec', command, '/dev/null'], { interactive: true })
  await terminal.line((line) => line.includes('Press Ctrl-C'))
  expect(terminal.stdout).toContain(
    'If the CRM fails, callers get answers for up to 12 h past the maximum age, then 502',
  )
  terminal.type('\x03')
  expect(await terminal.exited).toBe(0)
  directory.remove()
})

/** Prints the URL of each module that is loaded. */
const HOOK = `import { registerHooks } from 'node:module'
registerHooks({ resolve(specifier, context, next) { const found = next(specifier, context); console.error(found.url); return found } })`

it.each([
  ['json', []],
  ['csv', ['crm/files/csv-parser.ts']],
] as const)('a start loads no parser but that of its lists: %s', async (format, parsers) => {
  const directory = new FilesDirectory({ snapshot: null }, { events: format === 'json' ? '[]' : 'Id\n', venues: '[]' })
  if (format === 'csv') renameSync(join(directory.crm, 'events.json'), join(directory.crm, 'events.csv'))
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`
  const args = ['--import', hook, 'src/main.ts', 'serve', '--config', directory.configuration]
  const { child } = await untilListening(new Child(programOf('node'), args))
  await child.stop()
  const found = ['/commander/', 'crm/files/csv-parser.ts', '/yauzl/'].filter((name) => child.stderr.includes(name))
  expect(found).toEqual([...parsers])
  directory.remove()
})
