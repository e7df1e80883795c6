import { expect, it } from 'bun:test'
import type { Time } from '../../time/time.ts'
import { waitNotices } from './wait-notices.ts'

it('a wait is logged once, and again only where another one ends later', () => {
  let ms = 0
  const time: Time = { now: () => ({ monotonicMs: ms, wallMs: ms }), after: () => () => {}, random: () => 0.5 }
  const logged: string[] = []
  const note = waitNotices('crm.ts', (text) => text, {
    time,
    observe: (seen) => void (seen.kind === 'crm-noticed' && logged.push(seen.message)),
  })
  const loggedOf = (atMs: number, forMs: number): readonly string[] => {
    ms = atMs
    note(forMs, 'why')
    return logged.splice(0)
  }
  expect(loggedOf(0, 9000)).toEqual([])
  expect(loggedOf(0, 10_000)).toEqual(['crm.ts waits for 10 s: why'])
  expect(loggedOf(5, 10_000)).toEqual([])
  expect(loggedOf(1000, 3_000_000)).toEqual(['crm.ts waits for 3000 s: why'])
  // The same wait, as another request sees it later.
  expect(loggedOf(20_000, 2_981_000)).toEqual([])
})
