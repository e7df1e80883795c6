import { expect, it } from 'bun:test'
import { goldenRows, mappedRows } from './mapped-rows.ts'

it('a row becomes the record that it was; where it must become another, RECORDS is raised, and ./bun scripts/mapped-rows.ts run', async () => {
  expect(await mappedRows()).toBe(goldenRows())
})
