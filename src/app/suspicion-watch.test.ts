import { expect, it } from 'bun:test'
import { listSuspicions } from '../crm/mapping/suspicions.ts'
import { loadConfiguration } from '../config/read-configuration.ts'
import { Formatter } from '../formats/format.ts'
import type { ReadReport } from '../observe/observation.ts'
import { ListMaker } from '../records/row-records.ts'
import { SuspicionWatch } from './suspicion-watch.ts'

type Row = Readonly<Record<string, string | null>>

async function watched(): Promise<{
  readonly lines: string[]
  readonly read: (kind: ReadReport['kind'], rows: readonly Row[]) => void
}> {
  const loaded = await loadConfiguration({
    path: '/etc/marquee.yaml',
    text: 'crm: {kind: files, directory: /srv}',
    env: {},
    readFile: () => Promise.reject(new Error('nothing is read')),
  })
  if (!loaded.ok) throw new Error('the configuration is wrong')
  const lines: string[] = []
  const suspicions = listSuspicions()
  const watch = new SuspicionWatch(loaded.configuration, suspicions, (observation) => {
    if (observation.kind === 'suspicious')
      lines.push(`${observation.column} ${observation.what} (${observation.count})`)
  })
  const lists = new ListMaker(
    new Formatter(() => ({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } })),
  ).make()
  const held = { events: { list: lists.events }, venues: { list: lists.venues } } as never
  const probe = suspicions.venues.probe(['name', 'city'])
  return {
    lines,
    read(kind, rows) {
      for (const row of rows) probe(row)
      const counted = {
        rows: rows.length,
        changed: 1,
        newlyWithheld: [],
        isAudit: false,
        servesNothing: false,
        served: 1,
        withheld: 0,
      }
      const read = { list: 'venues', kind, outcome: 'ok', message: null, durationMs: 1, ...counted } as const
      watch.note({ kind: 'read-ended', read }, held)
    },
  }
}

it('calls a column blank in every row when every row was read, and not by the few of a read of changes', async () => {
  const { lines, read } = await watched()
  const blank = { name: 'Hall', city: null }
  read('changes', [blank, blank])
  expect(lines).toEqual([])
  read('full', [blank, blank, blank])
  read('changes', [blank])
  expect(lines).toEqual(['city exists, but is blank in every row (3)'])
})

it('calls no column blank in every row that holds something in another row', async () => {
  const { lines, read } = await watched()
  read('changes', [{ name: 'Hall', city: null }])
  read('full', [
    { name: 'Hall', city: 'Leeds' },
    { name: 'Cellar', city: null },
  ])
  read('changes', [{ name: 'Barn', city: null }])
  expect(lines).toEqual([])
})

it('counts the dates without an offset in both lists: further fields of venues may be dates', () => {
  const suspicions = listSuspicions()
  for (const list of [suspicions.events, suspicions.venues])
    Object.defineProperty(list, 'wallDates', { value: new Map([['Doors', 2]]) })
  const settings = { crm: { timeZone: { id: 'UTC' } }, isTimeZoneSet: false } as never
  const { zone } = new SuspicionWatch(settings, suspicions, () => {})
  expect(zone).toEqual({ name: 'UTC', set: false, datesWithoutOffset: 4 })
})
