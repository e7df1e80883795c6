import assert from 'node:assert/strict'
import type { Fleet, FleetSetting } from './fleet.ts'
import { fleetSettingOf } from './fleet.ts'
import type { Instance } from './instance.ts'

export const MAX_AGE_MS = 30_000

/** A fleet of one, to which a plan adds others. */
export const token = fleetSettingOf({
  strategy: 'token-delta',
  maxAgeMs: MAX_AGE_MS,
  instances: 1,
  changeEveryMs: 300,
  thinkMs: 300,
})

/** The leader of a fleet that begins. */
export async function begun(fleet: Fleet): Promise<Instance> {
  fleet.begin()
  await must(
    fleet,
    () => fleet.leader !== null && fleet.store.state.isReady && fleet.answers(fleet.leader),
    4 * MAX_AGE_MS,
  )
  const { leader } = fleet
  if (leader === null) throw new Error('nobody reads')
  return leader
}

/** One more, which follows. */
export async function follower(fleet: Fleet, given: Partial<FleetSetting> = {}): Promise<Instance> {
  const instance = fleet.start(given)
  await must(fleet, () => instance.cluster.member.role === 'follower' && fleet.answers(instance), 4 * MAX_AGE_MS)
  return instance
}

export async function must(fleet: Fleet, isSo: () => boolean, withinMs: number): Promise<void> {
  assert.ok(await fleet.until(isSo, withinMs), 'it did not come to pass in time')
}

/** The CRM hides all events but two. */
export function hideMost(fleet: Fleet): void {
  const { events } = fleet.tables
  events.visible = new Set(
    events
      .shown()
      .slice(0, 2)
      .map(({ id }) => id),
  )
}
