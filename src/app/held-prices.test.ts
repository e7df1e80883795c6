import { expect, it } from 'bun:test'
import type { EventRecord } from '../domain/event.ts'
import type { Guid } from '../domain/guid.ts'
import { Formatter } from '../formats/format.ts'
import { eventKind } from '../records/packing.ts'
import { RecordList } from '../records/record-list.ts'
import { HeldPrices } from './assemble.ts'

it('an instance that has not read the CRM calls no event free unless another one has a price', () => {
  const kind = eventKind(new Formatter({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } }))
  const list = new RecordList(kind)
  const prices = new HeldPrices()
  const serve = (number: number, Price: string): void => {
    const id = `a0000000-0000-4000-8000-00000000000${number}` as Guid
    const at = '2036-07-12T19:30:00+01:00'
    const event = { Id: id, Name: null, VenueId: id, Start: at, Finish: at, Price, Tags: [], Links: [] }
    const row = list.find(id)
    const counts = { TicketCapacity: 0, TicketsAvailable: 0 }
    list.serve(row === -1 ? list.insert(id) : row, kind.packing.pack({ ...event, ...counts } as unknown as EventRecord))
  }
  expect(prices.heldBy(list)).toBe(false)
  serve(1, '0')
  expect(prices.heldBy(list)).toBe(false)
  serve(2, '12.50')
  expect(prices.heldBy(list)).toBe(true)
  expect(prices.heldBy(new RecordList(kind))).toBe(false)
})

it('looks at no more than 10,000 rows, of a list that withholds nearly all of them too', () => {
  const kind = eventKind(new Formatter({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } }))
  let looked = 0
  class CountedList extends RecordList<EventRecord> {
    override isServed(row: number): boolean {
      looked++
      return super.isServed(row)
    }
  }
  const list = new CountedList(kind)
  for (let row = 0; row < 30_000; row++) list.insert(`a0000000-0000-4000-8000-${String(row).padStart(12, '0')}` as Guid)
  looked = 0
  expect(new HeldPrices().heldBy(list)).toBe(false)
  expect(looked).toBe(10_000)
})
