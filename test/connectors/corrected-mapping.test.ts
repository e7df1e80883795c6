import { afterEach, beforeEach, expect, it } from 'bun:test'
import { readdirSync } from 'node:fs'
import { WorkFolder } from '../commands/work-folder.ts'
import { eventually } from '../support/eventually.ts'
import { serve } from '../support/marquee-process.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { JsonServer } from './json-server.ts'
import { idNumbered } from './own-crm.ts'

const DRAFT = 2
const row = (number: number, status: string): object => {
  const times = { starts: '2036-05-01T19:30:00Z', ends: '2036-05-01T22:00:00Z' }
  return { id: idNumbered(number), name: `Event ${number}`, internal: 'for us', status, ...times }
}

let server: JsonServer
let exits = false
beforeEach(async () => {
  exits = false
  server = await JsonServer.open(({ path }) => ({
    json: path === '/exits' ? exits : [row(1, 'public'), row(DRAFT, 'draft')],
  }))
})
afterEach(() => server.close())

/** It reports changes, of which there are none: a snapshot is confirmed without reading any row. */
const MODULE = `import { events, venues } from './mapping.ts'
import { shaped } from './inner/rows.ts'
async function* changes({ http, settings }) {
  if (await http.get(settings.url + '/exits')) process.exit(1)
  yield []
  return '1'
}
export default { api: 1, settings: { url: 'url' },
  events: { ...events, changes, async *full({ http, settings }) { yield (await http.get(settings.url)).map(shaped) } },
  venues: { ...venues, changes, async *full() { yield [] } } }
`
const FIELDS = "{ Id: 'id', Name: 'name', Start: 'starts', Finish: 'ends' }"
const mapping = (showOnWeb: string, fields = FIELDS): string =>
  `export const venues = { fields: { Id: 'id', Name: 'name' } }\nexport const events = { fields: ${fields}, showOnWeb: ${showOnWeb} }\n`
const EVERY = "{ status: ['public', 'draft'] }"
const rows = (change: string): string => `export const shaped = (row: Record<string, unknown>) => (${change})\n`
const FILES = { 'mapping.ts': mapping(EVERY), 'inner/rows.ts': rows('row'), 'crm.ts': MODULE }

function folderWith(more: string): WorkFolder {
  return new WorkFolder({
    ...FILES,
    'marquee.yaml': `listen: { port: 0 }
operations: { port: 0 }
snapshot: { directory: ./snap }
${more}
crm: { kind: module, path: ./crm.ts, settings: { url: '${server.url}' } }
`,
  })
}

it.each(
  BOTH_RUNTIMES.flatMap((runtime) =>
    [
      ['showOnWeb', 'mapping.ts', mapping("{ status: ['public'] }"), 404],
      ['a field', 'mapping.ts', mapping(EVERY, FIELDS.replace("'name'", "'id'")), idNumbered(DRAFT)],
      ['code', 'inner/rows.ts', rows("{ ...row, status: row['status'] === 'draft' ? 'hidden' : 'public' }"), 404],
    ].map((one) => [runtime, ...one] as const),
  ),
)(
  'on %s a restart serves nothing by the old mapping: %s in %s, which the module imports',
  async (runtime, _, file, text, then) => {
    using folder = folderWith('')
    const nameOf = async (address: string): Promise<string | number> => {
      const reply = await fetch(`${address}api/events/${idNumbered(DRAFT)}`, {
        headers: { accept: 'application/json' },
      })
      return reply.ok ? ((await reply.json()) as { readonly Name: string }).Name : reply.status
    }
    const started = () => serve(runtime, folder.at('marquee.yaml'))
    const first = await started()
    await eventually(
      () => nameOf(first.listening.address),
      (name) => name === 'Event 2',
    )
    expect(await first.child.stop()).toBe(0)

    // The same mapping: the snapshot is used.
    const second = await started()
    await eventually(
      () => nameOf(second.listening.address),
      (name) => name === 'Event 2',
    )
    await second.child.line((line) => line.includes('loaded in'))
    expect(await second.child.stop()).toBe(0)
    const before = server.asked.length

    folder.write(String(file), String(text))
    const third = await started()
    const names = new Set<string | number>()
    await eventually(
      async () => {
        names.add(await nameOf(third.listening.address))
        return names
      },
      (seen) => seen.has(then),
    )
    names.delete(502)
    expect([...names]).toEqual([then])
    expect(third.child.stdout).not.toContain('loaded in')
    expect(server.asked.length).toBeGreaterThan(before)
    expect(await third.child.stop()).toBe(0)
    expect(readdirSync(folder.at('snap')).filter((name) => name.endsWith('.snapshot'))).toHaveLength(2)
  },
)

it('an edited import is not run before a restart, and the log says so', async () => {
  using folder = folderWith('freshness: { refreshEvery: 200ms }')
  const { child, listening } = await serve('bun', folder.at('marquee.yaml'))
  const status = async (): Promise<number> => (await fetch(`${listening.address}api/events/${idNumbered(1)}`)).status
  await eventually(status, (seen) => seen === 200)
  folder.write('mapping.ts', mapping("{ status: ['public'] }"))
  exits = true
  await child.line((line) => line.includes('ended with status 1'))
  exits = false
  const said = await child.line((line) => line.includes('has changed since the service was started'))
  expect(said).toContain(
    'crm.ts, or a file that it imports, has changed since the service was started: restart Marquee to use it',
  )
  expect(await child.stop()).toBe(0)
})
