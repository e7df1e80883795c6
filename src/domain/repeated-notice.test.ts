import { expect, it } from 'bun:test'
import { RepeatedNotice } from './repeated-notice.ts'

it('tells of a row once, of another one that takes its place, and again of more', () => {
  const notice = new RepeatedNotice()
  expect([notice.isNew(1, 'a'), notice.isNew(1, 'a'), notice.isNew(1, 'b'), notice.isNew(1, 'a')]).toEqual([
    true,
    false,
    true,
    false,
  ])
  expect([notice.isNew(2, 'a'), notice.isNew(3, 'a'), notice.isNew(4, 'a')]).toEqual([true, false, true])
})

it('tells of a row again that was well in between', () => {
  const notice = new RepeatedNotice()
  expect([notice.isNew(1, 'a'), notice.isNew(0, null), notice.isNew(1, 'a')]).toEqual([true, false, true])
})

it('names no more than twenty rows', () => {
  const notice = new RepeatedNotice()
  const notices = Array.from({ length: 1000 }, (_, row) => notice.isNew(1, String(row)))
  expect(notices.filter(Boolean)).toHaveLength(20)
})
