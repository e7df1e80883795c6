import { expect, it } from 'bun:test'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import { ListMaker } from '../records/row-records.ts'
import { orderIndexOf, keepIndex } from './list-index.ts'
import { scan } from './list-scan.ts'

it('an event is in the list until the very moment at which it ends, also if no other one ends later', async () => {
  const { events } = new ListMaker(formatter).make()
  await keepIndex(events, () => Promise.resolve())
  const id = guidOf(1)
  events.serve(events.insert(id), eventOf(id))
  const index = orderIndexOf(events)
  if (index === null) throw new Error('there is no index')
  const wanted = { to: null, venues: [], tags: [], available: false, after: null, limit: 10 }
  const countFrom = (ms: number): number => scan(index, { ...wanted, from: { ms, ticks: 0 } }).rows.length
  const endsAtMs = Date.parse(eventOf(id).Finish)
  expect([countFrom(endsAtMs), countFrom(endsAtMs + 1)]).toEqual([1, 0])
})
