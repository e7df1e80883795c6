import { expect, it } from 'bun:test'
import { eventOf, guidOf } from '../../test/model/records.ts'
import { Formatter } from '../formats/format.ts'
import { ListMaker } from '../records/row-records.ts'
import { removeAbsent } from './absence.ts'

const ROWS = 250_000
const formatter = new Formatter(() => ({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } }))

it('lets requests run while the end of a read looks for absent rows, although none is absent', async () => {
  const { events } = new ListMaker(formatter).make()
  for (let number = 0; number < ROWS; number++) {
    const row = events.insert(guidOf(number))
    events.serve(row, eventOf(row.id))
    row.seenAt = 10
  }
  let pauses = 0
  const pause = async (): Promise<void> => void pauses++
  expect([await removeAbsent(events, 10, () => 0, pause), events.served, pauses]).toEqual([0, ROWS, 2])
})
