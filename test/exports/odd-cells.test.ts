import { describe, expect, it } from 'bun:test'
import { fileOf, FORMATS, served } from './served-proposal.ts'

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

describe('init --from reads Swiss prices', () => {
  it.each(FORMATS)('with apostrophes, and names only those that are withheld, in %s', async (format) => {
    const [header = [], ...rows] = season({})
    const prices = ["CHF 1'200.-", 'CHF 1’250.–', 'dès 18.-', 'CHF 45.– / 30.–', "CHF 1'200.- (table de 10)", 'chapeau']
    const table = [header, ...rows.map((row, at) => [...row.slice(0, 6), prices[at] ?? 'CHF 12.50'])]
    const { text, events } = await served({ [`e.${format}`]: fileOf(format, table) })
    expect(text).toContain('; rows with chapeau are withheld until values says what to read instead')
    const found = (events as readonly { readonly Name: string; readonly Price: string }[]).map(({ Name, Price }) => [
      Name,
      Number(Price),
    ])
    expect(found.filter(([, price]) => price !== 12.5)).toEqual([
      ['Pièce 0', 1200],
      ['Pièce 1', 1250],
      ['Pièce 2', 18],
      ['Pièce 3', 30],
      ['Pièce 4', 1200],
    ])
  })

  it('as numbers of their own', async () => {
    const [header = [], ...rows] = season({})
    const table = [header, ...rows.map((row, at) => [...row.slice(0, 6), at === 0 ? "1'200" : "1'234'567"])]
    const { text, events } = await served({ 'e.csv': fileOf('csv', table) })
    expect(text).toContain('decimal: "."')
    expect(events.slice(0, 2)).toMatchObject([{ Price: '1200' }, { Price: '1234567' }])
  })
})
