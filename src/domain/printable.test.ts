import { expect, it } from 'bun:test'
import { bugPlace } from './printable.ts'

it('shows where a bug occurred without its message, which may contain a row of the CRM', () => {
  const place = bugPlace(new TypeError('cannot read\n    at 4 Privet Drive'))
  expect(place).toMatch(/^TypeError at .*src\/domain\/printable\.test\.ts:\d+/)
  expect(place).not.toContain('Privet')
  expect(bugPlace('a text')).toBe('something that is not an Error was thrown')
})
