import { expect, it } from 'bun:test'
import { UNREVISED } from '../domain/revision.ts'
import { Buffer } from 'node:buffer'
import { Formatter } from '../formats/format.ts'
import { ListMaker } from '../records/row-records.ts'
import { removeAbsent } from './absence.ts'

const ROWS = 250_000
const formatter = new Formatter({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } })

it('lets requests run while the end of a read looks for absent rows, although none is absent', async () => {
  const { events } = new ListMaker(formatter).make()
  events.reserve(ROWS)
  const text = Buffer.from('x')
  for (let row = 0; row < ROWS; row++)
    events.insertServed(Uint32Array.of(Math.imul(row, 0x9e3779b1), row, 0, 1), 1, UNREVISED, 0, text)
  for (const { seenAt } of events.shards) seenAt.fill(10)
  let pauses = 0
  const pause = async (): Promise<void> => void pauses++
  expect([await removeAbsent(events, 10, () => 0, pause), events.served, pauses]).toEqual([0, ROWS, 2])
})
