import { expect, it } from 'bun:test'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import { FakeList } from '../../test/support/fake-list.ts'
import { ListMaker } from '../records/row-records.ts'
import { explainId } from './explanation.ts'

const ROWS = 100_000

it('an explanation finds the rows that hold the text among all that are kept', async () => {
  const time = new VirtualTime(1)
  const { events, venues } = new ListMaker(formatter).make()
  for (let index = 0; index < ROWS; index++) {
    const found = index % 10_000 === 0 ? 'Gala' : null
    const fault = { fault: 'no-id', column: 'Id', expected: null, found } as const
    events.unidentified.add(null, { ...fault, where: `row ${index}`, name: 'Gala' })
  }
  const options = {
    lists: { events: new FakeList(time, events), venues: new FakeList(time, venues) },
    now: time.now(),
    mayAnswer: () => true,
    idsOf: null,
    hasLists: false,
  }
  const { steps } = await explainId('Gala', options)
  expect(steps.map(({ detail }) => detail).join()).toMatch(/row 0\).*row 10000\)/)
  expect(steps).toHaveLength(11)
})

it('an explanation does not say that a list of a snapshot was read in full', async () => {
  const time = new VirtualTime(1)
  const { events, venues } = new ListMaker(formatter).make()
  events.serve(events.insert(guidOf(1)), eventOf(guidOf(1)), () => 0)
  const lists = { events: new FakeList(time, events), venues: new FakeList(time, venues) }
  const explained = async (): Promise<string | undefined> => {
    const options = { lists, now: time.now(), mayAnswer: () => true, idsOf: null, hasLists: false }
    const { steps } = await explainId(guidOf(1), options)
    return steps.find(({ step }) => step === 'current')?.detail
  }
  lists.events.freshness.confirm(time.now(), 30_000)
  expect(await explained()).toBe('The list was confirmed 30 s ago, and not read in full since the start.')
  lists.events.freshness.audit(time.now(), 40_000)
  expect(await explained()).toBe('The list was confirmed 30 s ago, and last read in full 40 s ago.')
})
