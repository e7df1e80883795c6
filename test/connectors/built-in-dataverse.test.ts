import { expect, it } from 'bun:test'
import { fill } from '../dataverse/environment.ts'
import { Fixture } from '../dataverse/fixture.ts'

const environment = new Fixture()

it('the Dataverse connector keeps all promises of a connector of one’s own', async () => {
  fill(environment, 2042)
  const { crm } = await environment.rig({ settings: { availability: true } })
  expect(crm.events.reportsChanges).toBe(true)
  expect(await crm.conform?.(true)).toEqual([])
})
