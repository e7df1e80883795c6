import { expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeLists } from '../../bench/lists.ts'
import { Child, programOf } from '../support/child.ts'

const ROWS = 1000

it('the writer of a list changes the tickets of one row in a hundred each round, the last at first, and nothing else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-list-writer-'))
  const { eventsFile } = writeLists(directory, ROWS)
  const before = rowsOf(eventsFile)
  // Two of them, one after the other: what the first left behind must not be in the way.
  for (const rounds of ['1', '2']) await write(eventsFile, rounds)
  const after = rowsOf(eventsFile)
  const changed = before.flatMap((row, index) => (row === after[index] ? [] : [index]))
  expect(changed).toHaveLength((2 * ROWS) / 100)
  expect(changed.slice(-2)).toEqual([ROWS - 2, ROWS - 1])
  for (const index of changed) {
    expect(withoutTickets(after[index])).toEqual(withoutTickets(before[index]))
  }
  rmSync(directory, { recursive: true })
})

it('the writer of a list changes every row where it is told to', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-list-writer-'))
  const { eventsFile } = writeLists(directory, ROWS)
  const before = rowsOf(eventsFile)
  await write(eventsFile, '1', '1')
  const after = rowsOf(eventsFile)
  expect(after.filter((row, index) => row === before[index])).toEqual([])
  expect(after.map(withoutTickets)).toEqual(before.map(withoutTickets))
  rmSync(directory, { recursive: true })
})

async function write(eventsFile: string, ...roundsAndOneIn: readonly string[]): Promise<void> {
  const args = ['bench/list-writer.ts', eventsFile, '0.05', ...roundsAndOneIn]
  expect(await new Child(programOf('bun'), args).exited).toBe(0)
}

function rowsOf(file: string): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n')
}

function withoutTickets(row = ''): unknown {
  return { ...(JSON.parse(row) as Record<string, unknown>), TicketsAvailable: null }
}
