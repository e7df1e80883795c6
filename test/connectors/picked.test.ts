import { afterEach, describe, expect, it } from 'bun:test'
import type { Crm } from '../../src/sync/port.ts'
import { JsonServer } from './json-server.ts'
import { openConfigured, readList } from './replay.ts'

const left: { close(): unknown }[] = []
const noticed: string[] = []
afterEach(async () => {
  noticed.length = 0
  for (const one of left.splice(0)) await one.close()
})

const TICKETS = [
  [{ price: '20.10' }, { price: null }, { price: 9 }, { price: '100' }],
  [{ price: '' }],
  [],
  [{ price: 'free' }, { price: 3 }],
]

async function opened(price: string, more: object = {}): Promise<Crm> {
  const rows = TICKETS.map((tickets, index) => ({
    id: index + 1,
    starts: '2036-05-01T19:00:00Z',
    ends: '2036-05-01T20:00:00Z',
    tickets,
    ...more,
  }))
  const api = await JsonServer.open(({ path }) => ({ json: path === '/events' ? rows : [] }))
  left.push(api)
  const list = 'paging: { by: none, whole: true }'
  const crm = await openConfigured(
    `crm: { kind: http, url: "${api.url}", idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11,
      events: { get: /events, ${list}, fields: { Start: starts, Finish: ends, Price: ${price} } }, venues: { get: /venues, ${list} } }`,
    {},
    undefined,
    (seen) => void (seen.kind === 'crm-noticed' && noticed.push(seen.message)),
  )
  left.push(crm)
  return crm
}

async function pricesBy(pick: string): Promise<readonly unknown[]> {
  const crm = await opened(`{ column: tickets.*.price, pick: ${pick} }`)
  const { changes } = await readList(crm.events)
  return changes.map((change) => (change.kind === 'record' ? change.record.Price : change.kind))
}

describe('a path that finds several cells', () => {
  it.each([
    ['first', ['20.10', '0', '0', 'withheld']],
    ['least', ['9', '0', '0', 'withheld']],
    ['greatest', ['100', '0', '0', 'withheld']],
    ['sum', ['129.10', '0', '0', 'withheld']],
    ['count', ['3', '0', '0', '2']],
  ])('is read by pick: %s, without blank cells', async (pick, prices) => {
    expect(await pricesBy(pick)).toEqual(prices)
  })

  it('is named if no item has it, with the nearest that there is, and is blank', async () => {
    const crm = await opened('{ column: tickets.*.prize, pick: least }')
    expect((await readList(crm.events)).records.map(({ Price }) => String(Price))).toEqual(['0', '0', '0', '0'])
    expect(noticed).toEqual([
      expect.stringContaining('"tickets.*.prize" (events.fields.Price; did you mean "tickets.*.price"?)') as never,
    ])
  })
})

describe('a column with onlyWhere', () => {
  it('is blank in other rows', async () => {
    const crm = await opened('{ column: fee, onlyWhere: { id: [2, 3], state: { not: [draft] } }, whenBlank: "7" }', {
      fee: 12,
      state: 'live',
    })
    const { records } = await readList(crm.events)
    expect(records.map(({ Price }) => String(Price))).toEqual(['0', '12', '12', '0'])
  })

  it('reads the constant for a blank cell only in those rows, and so does a constant alone', async () => {
    const pricesOf = async (fee: string): Promise<readonly string[]> => {
      const crm = await opened(fee, { fee: null })
      return (await readList(crm.events)).records.map(({ Price }) => String(Price))
    }
    expect(await pricesOf('{ column: fee, onlyWhere: { id: [2, 3] }, whenBlank: "7" }')).toEqual(['0', '7', '7', '0'])
    expect(await pricesOf('{ value: "8", onlyWhere: { id: [4] } }')).toEqual(['0', '0', '0', '8'])
  })

  it('is named if its condition reads a column that no row has', async () => {
    const crm = await opened('{ column: id, onlyWhere: { stat: [live] } }', { state: 'live' })
    expect((await readList(crm.events)).failure).toBe('')
    expect(noticed.join('\n')).toContain('did you mean "state"?')
  })
})
