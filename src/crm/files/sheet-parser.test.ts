import { expect, it } from 'bun:test'
import { SharedTexts } from './sheet-parser.ts'

it('gives each text by its number, whatever is in it, and nothing for what is no number of a text', () => {
  const texts = new SharedTexts()
  const written = Array.from({ length: 2500 }, (_, index) => ['', `Größe ${index}`, '東京 🎭', 'x'][index % 4] ?? '')
  for (const text of written) texts.add(text)
  expect(written.map((_, index) => texts.at(index))).toEqual(written)
  for (const index of [-1, 1.5, 2500, 2100.5, Number.NaN, Infinity]) expect(texts.at(index)).toBeUndefined()
})
