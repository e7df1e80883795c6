import { expect, it } from 'bun:test'
import { EMPTY_GUID } from '../domain/guid.ts'
import type { RowKey } from './held-row.ts'
import { RowKeys } from './row-keys.ts'

const NOON = { ms: 0, ticks: 0 }

it('gives all rows with the same tags one set of tags, and forgets it with the last of them', () => {
  const keys = new RowKeys()
  const held = (): RowKey =>
    keys.hold({ start: NOON, end: NOON, venue: EMPTY_GUID, tags: ['Folk', 'Talk', 'Folk'], isAvailable: true })
  const [one, other] = [held(), held()]
  expect(other.tags).toBe(one.tags)
  expect([one.tags.written, one.tags.words]).toEqual([
    ['Folk', 'Talk'],
    ['folk', 'talk'],
  ])
  keys.release(one)
  expect(keys.sizeBytes).toBeGreaterThan(0)
  keys.release(other)
  expect(keys.sizeBytes).toBe(0)
})
