import { expect, it } from 'bun:test'
import { bugPlace, sizeText } from './printable.ts'

it('shows where a bug occurred without its message, which may contain a row of the CRM', () => {
  const place = bugPlace(new TypeError('cannot read\n    at 4 Privet Drive'))
  expect(place).toMatch(/^TypeError at .*src\/domain\/printable\.test\.ts:\d+/)
  expect(place).not.toContain('Privet')
  expect(bugPlace('a text')).toBe('something that is not an Error was thrown')
})

it.each([
  [1, '1 byte'],
  [100_000, '100,000 bytes'],
  [1_000_000, '1 MB'],
  [1_500_000, '1.5 MB'],
  [2_000_000_000, '2 GB'],
])('writes a size of %d bytes as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
