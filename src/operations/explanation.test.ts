import { expect, it } from 'bun:test'
import { formatter } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import { FakeList } from '../../test/support/fake-list.ts'
import { ListMaker } from '../records/row-records.ts'
import { explainId } from './explanation.ts'

const ROWS = 200_000

it('an explanation that looks through many rows lets requests pass meanwhile', async () => {
  const time = new VirtualTime(1)
  const { events, venues } = new ListMaker(formatter).make()
  for (let index = 0; index < ROWS; index++) {
    const found = index % 20_000 === 0 ? 'Gala' : null
    const fault = { fault: 'no-id', column: 'Id', expected: null, found } as const
    events.unidentified.add(null, { ...fault, where: `row ${index}`, name: 'Gala' })
  }
  const options = {
    lists: { events: new FakeList(time, events), venues: new FakeList(time, venues) },
    now: time.now(),
    mayAnswer: () => true,
    idsOf: null,
    remarkOn: () => null,
    hasLists: false,
  }
  const passed: string[] = []
  setImmediate(() => passed.push('a request'))
  const { steps } = await explainId('Gala', options)
  expect(passed).toEqual(['a request'])
  expect(steps.map(({ detail }) => detail).join()).toMatch(/row 0\).*row 20000\)/)
  expect(steps).toHaveLength(11)
})
