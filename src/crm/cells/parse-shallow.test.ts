import { expect, it } from 'bun:test'
import { parseErrorBody } from '../dataverse/client.ts'
import { CellFault } from './cell.ts'
import { toLinksOfText } from '../mapping/conversions.ts'
import { parseShallow, parseShallowInSlices } from './parse-cell.ts'

const LONG = '['.repeat(15_000_000)

it.each<readonly [what: string, read: () => unknown, comes: unknown]>([
  ['a text', () => parseShallowInSlices(LONG, () => null), { ok: false, reason: 'depth' }],
  ['objects', () => parseShallow('{"a":'.repeat(200_000)), { ok: false, reason: 'depth' }],
  ['a text at once', () => parseShallow(LONG), { ok: false, reason: 'depth' }],
  ['an error of Dataverse', () => parseErrorBody(LONG), { code: '', message: '' }],
  ['the text of a link', () => toLinksOfText(LONG) instanceof CellFault, true],
])('nesting without end is refused before it takes long: %s', async (_, read, comes) => {
  const before = process.cpuUsage()
  expect(await read()).toEqual(comes)
  // Processor time, as other processes may take most of the elapsed one.
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(500)
})

it('a list of more items than any answer has is refused before the rest of it is read', async () => {
  const list = (items: number): string => `[${'1,'.repeat(items - 1)}1]`
  expect((await parseShallowInSlices(list(500_000), () => null)).ok).toBe(true)
  expect(parseShallow(list(500_001))).toEqual({ ok: false, reason: 'depth' })
})

it('long JSON is read that is 64 deep, whatever brackets its texts hold', () => {
  const text = JSON.stringify('[{"'.repeat(40_000))
  expect(parseShallow(`${'['.repeat(64)}${text}${']'.repeat(64)}`).ok).toBe(true)
  expect(parseShallow(`${'['.repeat(65)}${text}${']'.repeat(65)}`)).toEqual({ ok: false, reason: 'depth' })
})
