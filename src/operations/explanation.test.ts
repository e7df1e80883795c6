import { expect, it } from 'bun:test'
import { formatter } from '../../test/model/records.ts'
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
