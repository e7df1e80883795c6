import { expect, it } from 'bun:test'
import { IdTexts } from '../../src/crm/mapping/id-texts.ts'
import { unmatchedVenues } from '../../src/faults/venue-references.ts'
import { guidOf } from '../model/records.ts'
import { Rig, tables } from '../snapshot/rig.ts'

it('a text of VenueId that no event has any longer is forgotten, and takes no memory', async () => {
  const rig = await new Rig(tables()).start()
  const [events, venues] = [new IdTexts(), new IdTexts()]
  events.note(
    guidOf(99),
    () => 'Zirkus',
    guidOf(1),
    () => 'row 1',
  )
  const texts = { events: { venueTexts: events }, venues: { venueTexts: venues } }
  expect(await unmatchedVenues(rig.replica, texts)).toEqual([])
  expect([...events]).toEqual([])
  await rig.kill()
})
