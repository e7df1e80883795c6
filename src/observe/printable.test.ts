import { expect, it } from 'bun:test'
import { bugPlace } from './printable.ts'

it('tells where a bug showed, and nothing of its message, which may hold a row of the CRM', () => {
  const place = bugPlace(new TypeError('cannot read\n    at 4 Privet Drive'))
  expect(place).toMatch(/^TypeError at .*src\/observe\/printable\.test\.ts:\d+/)
  expect(place).not.toContain('Privet')
  expect(bugPlace('a text')).toBe('something that is not an Error was thrown')
})
