import { afterAll, expect, it } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assembleAlone } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { readSmallFile } from '../../src/time/read-text.ts'
import { systemTime } from '../../src/time/time.ts'
import { eventually } from '../support/eventually.ts'
import { Reader, guidNumbered } from './own-crm.ts'

const folder = mkdtempSync(join(tmpdir(), 'marquee-port-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const MODULE = `import { writeFileSync } from 'node:fs'
const row = (number, name) => ({ id: '00000000-0000-4000-8000-00000000000' + number, name, at: '2036-05-01T19:30:00Z', changed: '2026-11-01T00:00:00Z' })
let hint = () => {}
let reads = 0
export default {
  api: 2,
  events: {
    updatedAt: 'changed',
    repeats: 'neither',
    async *full({ notice, purpose }) {
      notice('the view has no index')
      const bytes = new TextEncoder().encode(JSON.stringify(row(2, purpose)))
      yield { rows: [row(1, 'one'), bytes, row(1, 'other')], stable: 'moment', at: (index) => 'list.csv, line ' + (index + 2) }
    },
    async *since() {
      if (++reads === 2) hint(['00000000-0000-4000-8000-000000000002'])
      yield []
    },
    async *byId(_, ids) { yield { rows: [], deleted: ids } },
    watch(_, given) { hint = given; return () => {} },
    fields: { Id: 'id', Name: 'name', Start: 'at', Finish: 'at' },
  },
  venues: { async *full() { yield []; return { cursor: 'v1', version: 'one' } }, fields: { Id: 'id', Name: 'name' } },
  async close() { writeFileSync(${JSON.stringify(join(folder, 'closed'))}, '') },
}
`

it('a module in its own process says all that the port has: places, notices, hints, the end of a read, and closes', async () => {
  writeFileSync(join(folder, 'our-crm.mjs'), MODULE, { mode: 0o644 })
  const text = JSON.stringify({ operations: null, crm: { kind: 'module', path: './our-crm.mjs' } })
  const loaded = await loadConfiguration({ path: join(folder, 'm.yaml'), text, env: {}, readFile: readSmallFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const notices: string[] = []
  const { crm } = await assembleAlone(loaded.configuration, systemTime, (observation) => {
    if (observation.kind === 'crm-noticed') notices.push(observation.message)
  })
  const [events, venues] = [new Reader(crm.events), new Reader(crm.venues as never)]
  expect(await venues.full()).toMatchObject({ ok: true, cursor: 'v1' })
  let hints = 0
  crm.events.onHint?.(() => hints++)
  expect(await events.full({ purpose: 'audit' })).toMatchObject({ ok: true, oneMoment: true })
  expect(events.said.map(([, name]) => name)).toEqual(['one', 'audit', 'other'])
  const [page] = events.pages.filter(({ changes }) => changes.length > 0)
  expect(page?.whereIs(2)).toBe('list.csv, line 4')
  expect(notices).toContain('events: the view has no index')
  expect(crm.events.repeatedId).toBe('serves-neither')
  await events.changes()
  await eventually(
    async () => hints,
    (count) => count === 1,
  )
  expect(await events.changes()).toMatchObject({ ok: true, confirms: false })
  expect(events.pages.flatMap(({ changes }) => changes)).toEqual([{ kind: 'deleted', id: guidNumbered(2) }])
  await crm.close()
  expect(existsSync(join(folder, 'closed'))).toBe(true)
})
