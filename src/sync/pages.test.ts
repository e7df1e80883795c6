import { expect, it } from 'bun:test'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import { Pages, RowWait } from './pages.ts'
import type { Page, PageStream } from './port.ts'

const LIMITS = { patienceMs: 21_000, longestMs: 900_000 }

/** Yields pages without end, one each `everyMs`. */
async function* endless(time: VirtualTime, everyMs: number): PageStream<never> {
  for (;;) {
    const page: Page<never> = { sourceLagMs: 0, changes: [], whereIs: () => '' }
    yield page
    time.trueMs += everyMs
  }
}

async function outcomeOf(everyMs: number, limits = LIMITS): Promise<{ readonly pages: number; readonly told: string }> {
  const time = new VirtualTime(1)
  const pages = new Pages(() => endless(time, everyMs), { ...limits, wait: null }, time)
  for (let count = 0; ; count++) {
    const next = await pages.next()
    if (next.kind === 'page') continue
    const { outcome } = next
    return { pages: count, told: outcome.ok ? 'ok' : `${outcome.failure.kind}: ${outcome.failure.message}` }
  }
}

it('ends a read whose pages do not end, after 20,000 of them', async () => {
  expect(await outcomeOf(0)).toEqual({ pages: 20_000, told: 'broken: the pages do not end: 20000 came' })
})

it('ends a read that takes longer than full reads are apart', async () => {
  const { pages, told } = await outcomeOf(5000)
  expect(told).toBe('timeout: the read did not end within 900 s (freshness.fullReadEvery)')
  expect(pages).toBe(180)
})

it('gives a read a minute, however often all is read', async () => {
  expect((await outcomeOf(5000, { ...LIMITS, longestMs: 1000 })).pages).toBe(12)
})

it('is not taken to hang while it waits no longer than twice what the read before it waited at most', () => {
  const wait = new RowWait()
  wait.begins(0)
  wait.got(8000)
  wait.ends(9000, true)
  wait.begins(10_000)
  expect([25_000, 27_000].map((nowMs) => wait.hangsForMs(nowMs))).toEqual([0, 17_000])
  wait.pauses(27_000, 5000)
  expect([31_000, 49_000].map((nowMs) => wait.hangsForMs(nowMs))).toEqual([0, 17_000])
  wait.ends(50_000, false)
  expect(wait.hangsForMs(60_000)).toBe(0)
})
