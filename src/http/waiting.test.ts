import { expect, it } from 'bun:test'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import { FakeList } from '../../test/support/fake-list.ts'
import { ListMaker } from '../records/row-records.ts'
import { Admissions } from '../sync/served-list.ts'
import type { Answer, Call } from './call.ts'
import { Service } from './service.ts'

const [EVENT, VENUE] = [guidOf(1), guidOf(2)]

function scene(staleIfErrorMs = 0) {
  const time = new VirtualTime(1)
  const lists = new ListMaker(formatter).make()
  lists.events.serve(lists.events.insert(EVENT), eventOf(EVENT, { VenueId: VENUE }))
  const served = { events: new FakeList(time, lists.events), venues: new FakeList(time, lists.venues) }
  const limits = { waiting: 10, waitForMs: 10_000 }
  const service = new Service({
    served: () => served,
    admissions: new Admissions(
      () => ({ maxAgeMs: 30_000, staleIfErrorMs, shrinkGuardMs: 60_000 }),
      () => limits,
      time,
    ),
    time,
    basePath: '/',
    maxAgeMs: 30_000,
    conditionalRequests: false,
    onInternalError: () => expect.unreachable(),
  })
  const ask = (pathname: string): Answer | Promise<Answer> => {
    const call: Call = { method: 'GET', target: pathname, pathname, header: () => null }
    return service.answer(call)
  }
  return { time, lists, served, answer: ask }
}

it('an answer from both lists waits for them no longer than limits.waitFor in all', async () => {
  const { time, lists, served, answer } = scene()
  lists.venues.serve(lists.venues.insert(VENUE), venueOf(VENUE, 'A'))
  const statuses: number[] = []
  const ask = (): void =>
    void Promise.resolve(answer(`/api/events/${EVENT}/venue`)).then(({ status }: Answer) => statuses.push(status))
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

for (const old of ['events', 'venues'] as const) {
  it(`the venue of an event is 502, not 404, if the ${old} are past the maximum age: they cannot tell`, async () => {
    const { time, served, answer } = scene(3_600_000)
    const statusOf = async (path: string): Promise<number> => (await answer(path)).status
    const venueOfEvent = `/api/events/${EVENT}/venue`
    served.events.confirmedAt = served.venues.confirmedAt = time.now()
    expect(await statusOf(venueOfEvent)).toBe(404)
    await time.pass(31_000)
    served.events.confirmedAt = served.venues.confirmedAt = time.now()
    served[old].confirmedAt = { monotonicMs: 0, wallMs: time.now().wallMs - 31_000 }
    served[old].isFailing = true
    served[old].nextTryInMs = 2500
    const { status, fields } = await answer(venueOfEvent)
    expect([status, fields.values['Retry-After']]).toEqual([502, '3'])
    expect(await statusOf(`/api/venues/${VENUE}`)).toBe(404)
    expect(await statusOf(`/api/events/${EVENT}`)).toBe(200)
    // The shrink guard keeps a list that is known to be old.
    served[old].shrunk = { since: time.now(), absent: 1, unreadable: 0 }
    expect(await statusOf(venueOfEvent)).toBe(404)
    served[old].isLeftBehind = true
    expect(await statusOf(venueOfEvent)).toBe(502)
  })
}
