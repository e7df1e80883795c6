import { expect, it } from 'bun:test'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import { FakeList } from '../../test/support/fake-list.ts'
import { ListMaker } from '../records/row-records.ts'
import { Admissions } from '../sync/served-list.ts'
import type { Answer, Call } from './call.ts'
import { Service } from './service.ts'

const [EVENT, VENUE] = [guidOf(1), guidOf(2)]

it('an answer from both lists waits for them no longer than limits.waitFor in all', async () => {
  const time = new VirtualTime(1)
  const lists = new ListMaker(formatter).make()
  lists.events.serve(lists.events.insert(EVENT), lists.events.kind.packing.pack(eventOf(EVENT, { VenueId: VENUE })))
  lists.venues.serve(lists.venues.insert(VENUE), lists.venues.kind.packing.pack(venueOf(VENUE, 'A')))
  const served = { events: new FakeList(time, lists.events), venues: new FakeList(time, lists.venues) }
  const limits = { waiting: 10, waitForMs: 10_000 }
  const service = new Service({
    served: () => served,
    admissions: new Admissions({ maxAgeMs: 30_000, staleIfErrorMs: 0, shrinkGuardMs: 0 }, limits, time),
    time,
    basePath: '/',
    maxAgeMs: 30_000,
    conditionalRequests: false,
    onInternalError: () => expect.unreachable(),
  })
  const pathname = `/api/events/${EVENT}/venue`
  const call: Call = { method: 'GET', target: pathname, pathname, header: () => null }
  const statuses: number[] = []
  const ask = (): void => void Promise.resolve(service.answer(call)).then(({ status }: Answer) => statuses.push(status))
  served.events.readMs = 4000
  served.venues.readMs = 5000
  ask()
  await time.pass(9100)
  expect(statuses).toEqual([200])
  await time.pass(60_000)
  served.venues.readMs = 7000
  ask()
  await time.pass(10_100)
  expect(statuses).toEqual([200, 502])
})
