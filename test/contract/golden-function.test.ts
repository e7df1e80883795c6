import { describe, expect, it } from 'bun:test'
import { openFilesCrm } from '../../src/crm/files/files-crm.ts'
import type { Zone } from '../../src/domain/zone.ts'
import { openZone } from '../../src/domain/zone.ts'
import { Formatter } from '../../src/formats/format.ts'
import type { MediaType, Shape } from '../../src/formats/media-types.ts'
import { MEDIA_TYPES, shapeOf } from '../../src/formats/media-types.ts'
import type { Change, ListSource } from '../../src/sync/port.ts'
import { systemTime } from '../../src/time/time.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { Golden } from './golden-cases.ts'
import { GOLDEN, listsOf, shapeSuffix } from './golden-cases.ts'

const PLAIN = { block: null, texts: null }

const formatter = new Formatter(() => ({ basePath: '/', namespace: 'EventsApi', links: { event: [], venue: [] } }))

describe('the golden cases, by mapping and formatter only (contract §2, §3)', () => {
  it('are 50', () => {
    expect(GOLDEN).toHaveLength(50)
  })

  it('have a body for every offered type', () => {
    expect([...shapeSuffix.keys()]).toEqual([...MEDIA_TYPES])
  })

  for (const golden of GOLDEN) {
    it(`${golden.name}: ${golden.note}`, async () => {
      const format = await formatOf(golden)
      for (const type of MEDIA_TYPES) expect(format(shapeOf[type])).toBe(expectedBody(golden, type))
    })
  }
})

function expectedBody(golden: Golden, type: MediaType): string {
  return golden.bodies[shapeSuffix.get(type) ?? 'json'].toString('utf8')
}

async function formatOf(golden: Golden): Promise<(shape: Shape) => string> {
  const directory = new FilesDirectory({}, listsOf(golden))
  const zone = zoneOf(golden.timeZone)
  const { events, venues } = openFilesCrm(
    { kind: 'files', directory: directory.crm, timeZone: zone, idNamespace: null, events: PLAIN, venues: PLAIN },
    {
      showIn: zone,
      time: systemTime,
      observe: () => {},
      limits: () => ({ requestTimeoutMs: 10_000, maxAgeMs: 30_000 }),
    },
  )
  try {
    if (golden.kind === 'event') {
      const event = await onlyRecord(events)
      return (shape) => formatter.event(event, shape)
    }
    const venue = await onlyRecord(venues)
    return (shape) => formatter.venue(venue, shape)
  } finally {
    directory.remove()
  }
}

async function onlyRecord<Item>(source: ListSource<Item>): Promise<Item> {
  const held = { version: () => Number.NaN, size: 0 }
  const changes: Change<Item>[] = []
  const pages = source.read({ kind: 'full', cursor: null, held, signal: new AbortController().signal })
  for await (const page of pages) changes.push(...page.changes)
  const [change] = changes
  if (change?.kind !== 'record') throw new Error('no record', { cause: changes })
  return change.record
}

function zoneOf(name: string): Zone {
  const zone = openZone(name)
  if (zone === null) throw new Error(`no zone: ${name}`)
  return zone
}
