import { expect, it } from 'bun:test'
import { recordsChangedLately, recordsNamed } from '../../src/operations/record-search.ts'
import { type Moment, systemTime } from '../../src/time/time.ts'
import { put, Rig, tables } from '../snapshot/rig.ts'

it('what changed lately is what came or changed since the first read, newest first, and found by its name', async () => {
  const both = tables(30)
  const rig = await new Rig(both).start()
  const { signal } = new AbortController()
  const names = async (search: typeof recordsChangedLately): Promise<readonly string[]> =>
    (await search(rig.replica, now(), signal)).records.map(({ name }) => name)
  const now = (): Moment => {
    const { monotonicMs, wallMs } = systemTime.now()
    return { monotonicMs: monotonicMs + rig.aheadMs, wallMs: wallMs + rig.aheadMs }
  }
  expect(await names(recordsChangedLately)).toEqual([])
  rig.aheadMs = 1000
  put(both, 'events', 1, 'Changed first')
  await rig.read()
  rig.aheadMs = 2000
  put(both, 'events', 31, 'Came later')
  await rig.read()
  expect(await names(recordsChangedLately)).toEqual(['Came later', 'Changed first'])
  const found = await recordsNamed(rig.replica, 'CHANGED', systemTime.now(), signal)
  expect(found.records.map(({ name }) => name)).toEqual(['Changed first'])
  await rig.kill()
})
