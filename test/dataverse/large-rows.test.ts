import { expect, it } from 'bun:test'
import { eventValues, fill } from './environment.ts'
import { Fixture, eventIn, load } from './fixture.ts'
import { idOf } from './environment.ts'
import type { Rig } from './rig.ts'

const environment = new Fixture()
/** A text column that no field needs the whole of. */
const longName = (characters: number, of = 'x'): Record<string, unknown> =>
  eventValues(2, { msevtmgt_name: of.repeat(characters) })

function withheldOf({ replica }: Rig): readonly string[] {
  return [...replica.events.list.withheldRows()].map(
    ({ id, withheld: { fault, column } }) => `${id} ${fault} ${column}`,
  )
}

it('a row of more than 256 KB is withheld, and all others are served', async () => {
  fill(environment, 3)
  environment.events.put(idOf(2), longName(300_000))
  const rig = await environment.rig()
  await load(rig)
  expect(withheldOf(rig)).toEqual([`${idOf(2)} too-large null`])
  expect([eventIn(rig, 1)?.Name, eventIn(rig, 2), eventIn(rig, 3)?.Name]).toEqual(['Event 1', null, 'Event 3'])
})

it('a row that grows past 256 KB, counted in bytes, is withdrawn with its change, and comes back with the next', async () => {
  fill(environment, 3)
  const rig = await environment.rig()
  await load(rig)
  environment.events.put(idOf(2), longName(250_000))
  expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
  expect(withheldOf(rig)).toEqual([])
  environment.events.put(idOf(2), longName(250_000, 'ä'))
  expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
  expect(withheldOf(rig)).toEqual([`${idOf(2)} too-large null`])
  environment.events.put(idOf(2), longName(10))
  expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
  expect([withheldOf(rig), eventIn(rig, 2)?.Name]).toEqual([[], 'x'.repeat(10)])
})
