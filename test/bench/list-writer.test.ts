import { expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeLists } from '../../bench/data.ts'
import { Child, programOf } from '../support/child.ts'

const ROWS = 1000

it('the writer of a list changes the tickets of one row in a hundred each round, the last at first, and nothing else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-list-writer-'))
  const { eventsFile } = writeLists(directory, ROWS)
  const before = rowsOf(eventsFile)
  // Two of them, one after the other: what the first left behind must not be in the way.
  for (const rounds of ['1', '2']) {
    const writer = new Child(programOf('bun'), ['bench/list-writer.ts', eventsFile, '0.05', rounds])
    expect(await writer.exited).toBe(0)
  }
  const after = rowsOf(eventsFile)
  const changed = before.flatMap((row, index) => (row === after[index] ? [] : [index]))
  expect(changed).toHaveLength((2 * ROWS) / 100)
  expect(changed.slice(-2)).toEqual([ROWS - 2, ROWS - 1])
  for (const index of changed) {
    expect(withoutTickets(after[index])).toEqual(withoutTickets(before[index]))
  }
  rmSync(directory, { recursive: true })
})

function rowsOf(file: string): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n')
}

function withoutTickets(row = ''): unknown {
  return { ...(JSON.parse(row) as Record<string, unknown>), TicketsAvailable: null }
}
