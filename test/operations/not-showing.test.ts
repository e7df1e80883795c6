import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import type { Explanation } from '../../src/operations/explanation.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'

function idOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}

function event(index: number, changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const times = { Start: '2026-07-12T19:30:00Z', Finish: '2026-07-12T21:30:00Z' }
  return { Id: idOf(index), Name: `Event ${index}`, ...times, Price: '12.50', ShowOnWeb: true, ...changes }
}

const VENUE = '00000000-0000-4000-9000-000000000001'
const ROWS = [
  event(1),
  event(2, { ShowOnWeb: false }),
  event(3, { ShowOnWeb: undefined, ShowOnWEB: true }),
  event(4, { Active: 'no' }),
  event(5, { Start: null }),
  event(6, { Start: '12/07/2026' }),
  event(7, { Price: '12,50' }),
  event(8, { Id: 'EV-0008' }),
  event(1, { Name: 'The real one' }),
  event(10, { ShowOnWeb: 'ja' }),
  event(11, { VenueId: '00000000-0000-4000-9000-00000000dead' }),
  event(12, { VenueId: VENUE }),
  event(13, { Start: null, Price: '12,50', ShowOnWeb: 'ja' }),
]

describe('why an event is not showing, in words that a CRM admin acts on', () => {
  let directory: FilesDirectory
  let running: MarqueeProcess
  beforeAll(async () => {
    // Longer than a machine may stand still: what is shown must not be too old meanwhile.
    const freshness = { maxAge: '8s', refreshEvery: '100ms' }
    const lists = { events: JSON.stringify(ROWS), venues: JSON.stringify([{ Id: VENUE, Name: 'Hall', Active: false }]) }
    directory = new FilesDirectory({ operations: { port: 0 }, freshness }, lists)
    running = await serve('bun', directory.configuration)
  })
  afterAll(async () => {
    await running.child.stop()
    directory.remove()
  })

  async function explained(id: string): Promise<Explanation> {
    const reply = await askOperations(`${running.listening.operations ?? ''}explain/${encodeURIComponent(id)}`)
    return JSON.parse(reply?.text ?? '') as Explanation
  }

  it.each([
    ['is not marked', idOf(2), 'shown', 'is not marked to be shown on the web (ShowOnWeb)'],
    [
      'has the mark in a column that nothing reads',
      idOf(3),
      'shown',
      'is not marked to be shown on the web (ShowOnWeb)',
    ],
    ['is not active', idOf(4), 'active', 'is not active (Active). Activate it'],
    ['lacks its start', idOf(5), 'mapped', 'has nothing in Start. Fill in Start: a date-time'],
    ['has a date that is guesswork', idOf(6), 'mapped', 'Start that cannot be read: expected a date-time'],
    [
      'has a decimal comma',
      idOf(7),
      'mapped',
      `found "12,50". Correct Price: write 12.50, or set crm.texts.decimal: ','.`,
    ],
    ['has an id that is none', 'EV-0008', 'listed', 'item 8'],
    ['has another word for yes', idOf(10), 'shown', 'ShowOnWeb that cannot be read: expected true or false'],
    ['was never there', idOf(99), 'listed', 'It is in neither list of the CRM'],
  ])('one that %s', async (_, id, step, words) => {
    const { shown, steps } = await explained(id)
    expect(shown).toBe(false)
    const failed = steps.find(({ ok, step: name }) => !ok && name !== 'id')
    expect(String(failed?.step)).toBe(step)
    expect(failed?.detail).toContain(words)
  })

  it('one with several mistakes: all of them at once, with its name', async () => {
    const failed = (await explained(idOf(13))).steps.filter(({ ok }) => !ok)
    expect(failed.map(({ step, detail }) => [step, /(?:in|for) (\w+)/.exec(detail)?.[1]])).toEqual([
      ['shown', 'ShowOnWeb'],
      ['mapped', 'Start'],
      ['mapped', 'Price'],
    ])
    expect(failed[0]?.detail).toStartWith('The event "Event 13" (events.json, item 13')
    const page = await askOperations(
      `${running.listening.operations ?? ''}withheld?column=Start&reason=missing&q=event`,
    )
    expect(JSON.parse(page?.text ?? '') as unknown).toMatchObject({
      matching: 2,
      rows: [{ name: 'Event 5' }, { name: 'Event 13', fault: 'unreadable' }],
    })
  })

  it('tells by column how many rows have which fault, mistakes first', async () => {
    const status = JSON.parse((await askOperations(`${running.listening.operations ?? ''}status`))?.text ?? '') as {
      lists: Record<string, { withheldByReason: object; groups: object[] }>
    }
    const { events, venues } = status.lists
    expect(events?.withheldByReason).toMatchObject({ missing: 1, unreadable: 4, 'no-id': 1, 'duplicate-id': 1 })
    expect(events?.groups).toEqual([
      { column: 'Start', fault: 'missing', count: 2 },
      { column: 'Price', fault: 'unreadable', count: 2 },
      { column: 'ShowOnWeb', fault: 'unreadable', count: 2 },
      { column: 'Start', fault: 'unreadable', count: 1 },
      { column: 'Id', fault: 'no-id', count: 1 },
      { column: 'Id', fault: 'duplicate-id', count: 1 },
      { column: 'ShowOnWeb', fault: 'not-shown', count: 2 },
      { column: 'Active', fault: 'inactive', count: 1 },
    ])
    expect(venues?.groups).toEqual([{ column: 'Active', fault: 'inactive', count: 1 }])
  })

  it('one of two with the same id: the first is shown, the second named', async () => {
    const { shown, steps } = await explained(idOf(1).toUpperCase())
    expect(shown).toBe(true)
    expect(steps.find(({ ok }) => !ok)?.detail).toContain('A second row (events.json, item 9')
  })

  it('one whose venue is missing or withheld: it is shown, and the venue explained', async () => {
    const [lost, withheld] = [await explained(idOf(11)), await explained(idOf(12))]
    expect([lost.shown, withheld.shown]).toEqual([true, true])
    expect(lost.steps.find(({ step }) => step === 'venue')?.detail).toContain("is not in the CRM's list of venues")
    expect(withheld.steps.find(({ step }) => step === 'venue')?.detail).toContain('is not on the web')
    expect((await explained(VENUE)).steps.at(-1)?.detail).toContain('is not active')
  })

  it('tells which bytes and which ETag are answered for each of the four shapes', async () => {
    const { representations } = await explained(idOf(1))
    expect(representations.map(({ types }) => types.join())).toEqual([
      'application/json,text/json',
      'application/xml,text/xml',
      'application/hal+json',
      'application/hal+xml',
    ])
    for (const { types, etag, body } of representations) {
      const response = await fetch(`${running.listening.address}api/events/${idOf(1)}`, {
        headers: { Accept: types[0] ?? '' },
      })
      expect([response.headers.get('etag'), await response.text()]).toEqual([etag, body])
    }
  })

  it('names the columns that nothing reads, so that a misspelt one is found', async () => {
    const status = await askOperations(`${running.listening.operations ?? ''}status`)
    expect(JSON.parse(status?.text ?? '') as unknown).toMatchObject({
      lists: { events: { ignoredColumns: ['ShowOnWEB'] }, venues: { ignoredColumns: [] } },
    })
  })

  it('one that was added to a list that cannot be read: the fault of the list is told', async () => {
    directory.write('events', '[{')
    const explanation = await eventually(
      () => explained(idOf(50)),
      ({ steps }) => steps.at(-1)?.detail.includes('cannot be read now') === true,
    )
    expect(explanation.steps.at(-1)?.detail).toContain('events.json, line 1')
    const old = await eventually(
      () => explained(idOf(1)),
      ({ shown }) => !shown,
    )
    expect(old.steps.find(({ step }) => step === 'current')?.detail).toContain('so callers get 502')
  })
})
