import { expect, it } from 'bun:test'
import { failureOf } from '../../sync/port.ts'
import { systemTime } from '../../time/time.ts'
import { unanswered } from './client.ts'
import { PageReader } from './page-reader.ts'

it('a page size that shrank grows again with full reads that end well, later each time it was too large', async () => {
  const client = { page: () => Promise.resolve(unanswered(failureOf('too-large', 'x'))) }
  const reader = new PageReader(client as never, { from: 'events' } as never, systemTime)
  const readsUntil = (rows: number): number => {
    let reads = 0
    for (; reader.pageRows < rows && reads < 100; reads++) reader.readInFull()
    return reads
  }
  await reader.page('https://crm/events', { rows: reader.pageRows }, new AbortController().signal)
  expect(reader.pageRows).toBe(100)
  expect(readsUntil(200)).toBe(4)
  await reader.page('https://crm/events', { rows: reader.pageRows }, new AbortController().signal)
  expect(reader.pageRows).toBe(20)
  expect(readsUntil(40)).toBe(8)
  expect(readsUntil(1000)).toBeGreaterThan(8)
  reader.readInFull()
  expect(reader.pageRows).toBe(1000)
})
