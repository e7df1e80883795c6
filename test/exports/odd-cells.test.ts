import { describe, expect, it } from 'bun:test'
import { FORMATS, served } from './served-proposal.ts'
import { fileOf } from './served-proposal.ts'

const HEADER = ['Nr', 'Titre', 'Salle', 'Date', 'Heure', 'Fin', 'Prix']

/** A season of twenty evenings, of which the first has other cells. */
function season(odd: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  const rows = Array.from({ length: 20 }, (_, at) => {
    const usual = [
      `${at + 1}`,
      `Pièce ${at}`,
      'Foyer',
      `${String(at + 1).padStart(2, '0')}.05.2036`,
      '20h30',
      '22h45',
      '30',
    ]
    return usual.map((cell, column) => (at === 0 ? (odd[HEADER[column] ?? ''] ?? cell) : cell))
  })
  return [HEADER, ...rows]
}

describe('init --from reads a column as nearly all of its cells are written', () => {
  it.each(FORMATS)('beside one that is no day, and names it, in %s', async (format) => {
    const table = season({ Date: 'avril 2036', Heure: '' })
    const { text, asked, events } = await served({ [`e.${format}`]: fileOf(format, table) })
    expect(text).toContain('Start: { join: [Date, Heure] }')
    expect(text).toMatch(/Start: .*; does not fit: avril 2036$/m)
    expect(text).toContain('Finish: { join: [Date, Fin] }')
    expect(asked).not.toContain('Finish')
    expect(events.length).toBe(19)
  })
})
