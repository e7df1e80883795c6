import { describe, expect, it } from 'bun:test'
import { textKeyFor } from '../../src/proposal/text-keys.ts'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'

interface Group {
  readonly column: string | null
  readonly fault: string
  readonly remedy: string
  readonly found: readonly { readonly value: string }[]
}

const HEADER = 'Nr;Titel;Tag;Zeit;Ende;Preis;Web'
const TEXTS = "decimal: ',', currency: ['€'], yes: [x, ja]"
const GOOD = '1;Figaro;2027-06-21;19:30;2027-06-21 22:00;18,50 €;ja'

function configuration({ from = 'Plan.csv', ids = true, price = 'Price', texts = TEXTS } = {}): string {
  return `operations: null
timeZone: Europe/Berlin
crm:
  kind: files
  directory: .
  ${ids ? 'idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11' : ''}
  texts: { delimiter: ';', ${texts} }
  events:
    from: ${from}
    fields: { Id: Nr, Name: Titel, Start: { join: [Tag, Zeit] }, Finish: Ende, ${price.includes(':') ? price : `${price}: Preis`} }
    showOnWeb: null
    active: null
  venues: { from: Orte.csv, fields: { Id: Name, Name: Name }, active: null }
`
}

async function groupsOf(
  rows: readonly string[],
  given: Parameters<typeof configuration>[0] = {},
): Promise<readonly Group[]> {
  using folder = new WorkFolder({
    'marquee.yaml': configuration(given),
    'Plan.csv': [HEADER, ...rows, ''].join('\n'),
    'Orte.csv': 'Name\n',
  })
  const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
  return (JSON.parse(stdout) as { groups: readonly Group[] }).groups
}

function remedies(groups: readonly Group[]): readonly string[] {
  return groups.map(({ remedy }) => remedy)
}

describe('what check says to do works when it is done to the letter', () => {
  it('a number is told only where there is one', async () => {
    const groups = await groupsOf([GOOD, GOOD.replace('1;', '2;').replace('18,50 €', 'ab 12,50 €')])
    expect(remedies(groups)).toEqual([
      expect.stringMatching(
        /^Correct Preis \(expected: a number with a decimal comma, such as 1\.250,00 \(crm\.texts\.decimal\), with or without € \(crm\.texts\.currency\)\), or read it with \{ column: "Preis", pick: least \}, which finds the lowest amount\.$/,
      ) as never,
    ])
  })

  it('words and several amounts are read as it says, once its keys are there', async () => {
    const cells = ['ab 12,50 €', '10/8 EUR', 'Eintritt frei', 'TBD']
    const rows = [GOOD, ...cells.map((cell, index) => GOOD.replace('1;', `${index + 2};`).replace('18,50 €', cell))]
    const [remedy = ''] = remedies(await groupsOf(rows, { texts: 'yes: [ja]' }))
    expect(remedy).toContain("set crm.texts.decimal: ',' and set crm.texts.currency: [")
    const written = /read it with (\{.*\}), which finds the lowest amount\.$/.exec(remedy)?.[1] ?? ''
    expect(written).toBe('{ column: "Preis", pick: least, values: { "Eintritt frei": 0, "TBD": NUMBER } }')
    const price = `Price: ${written.replace('NUMBER', '20')}`
    expect(await groupsOf(rows, { texts: "decimal: ',', currency: ['€', EUR]", price })).toEqual([])
  })

  it.each([
    [
      'sold out',
      'Correct Preis: write 0 for "sold out", or read it with { column: "Preis", values: { "sold out": 0 } }.',
    ],
    ['Ausverkauft!', 'Correct Preis: write 0 for "Ausverkauft!", or read it with'],
    ['frei', 'crm.texts.decimal)), or read it with { column: "Preis", values: { "frei": NUMBER } }.'],
  ])('of tickets left, %s is 0 only if it says that there are none', async (text, remedy) => {
    const good = GOOD.replace('18,50 €', '18')
    const groups = await groupsOf([good, good.replace('1;', '2;').replace('18;', `${text};`)], {
      price: 'TicketsAvailable',
    })
    expect(remedies(groups)).toEqual([expect.stringContaining(remedy) as never])
  })

  it.each([
    [
      '1,250',
      'write 1250 or 1.250 (whichever is meant) for "1,250", or set crm.texts.decimal to the decimal sign of these texts.',
    ],
    [
      '1.250 €',
      'write 1250 or 1.250 (whichever is meant) for "1.250 €", or set crm.texts.decimal to the decimal sign of these texts and set crm.texts.currency: ["€"].',
    ],
    ['1,250,000', 'write 1250000 for "1,250,000", or set crm.texts.decimal: \'.\'.'],
    ['0,250', 'write 0.250 for "0,250", or set crm.texts.decimal: \',\'.'],
    ['18,50', 'write 18.50 for "18,50", or set crm.texts.decimal: \',\'.'],
  ])('a price whose sign may separate thousands is told in both readings: %s', async (text, remedy) => {
    const groups = await groupsOf([GOOD.replace('18,50 €', text)], { texts: '' })
    expect(remedies(groups)).toEqual([`Correct Preis: ${remedy}`])
  })

  it.each([
    ['1,250', '1250'],
    ['1.250', '1250'],
    ['1.250,000', '1250.000'],
  ])('a number of seats has no fraction: %s is %s', async (text, meant) => {
    const [group] = await groupsOf([GOOD.replace('18,50 €', text)], { texts: '', price: 'TicketCapacity' })
    expect(group?.remedy).toStartWith(`Correct Preis: write ${meant} for `)
  })

  it.each(['250,5', '9.999.999.999'])('of seats, %s is told by the decimal sign that is set', async (text) => {
    const good = GOOD.replace('18,50 €', '1.250')
    const groups = await groupsOf([good, good.replace('1;', '2;').replace('1.250;', `${text};`)], {
      price: 'TicketCapacity',
    })
    expect(remedies(groups)).toEqual(['Correct Preis (expected: a whole number, such as 1.250 (crm.texts.decimal)).'])
  })

  it('a price that is called free is 0', async () => {
    const groups = await groupsOf([GOOD, GOOD.replace('1;', '2;').replace('18,50 €', 'Eintritt frei')])
    expect(remedies(groups)).toEqual([expect.stringContaining('Correct Preis: write 0 for "Eintritt frei"') as never])
  })

  it('a list of words that is set already is added to', async () => {
    const groups = await groupsOf([GOOD.replace('18,50 €', '18,50 $')])
    expect(remedies(groups)[0]).toMatch(/or add "\$" to crm\.texts\.currency\.$/)
    expect(textKeyFor(['wahr', 'nein'], { kind: 'flag', words: ['x', 'ja'] })).toBe(
      'add wahr to crm.texts.yes and add nein to crm.texts.no',
    )
    expect(textKeyFor(['wahr'], { kind: 'flag', words: null })).toBe('set crm.texts.yes: [wahr]')
  })

  it('an id that is blank, or is no GUID where ids are GUIDs, and one that two rows have', async () => {
    const rows = [GOOD, GOOD.replace('1;', ' 1 ;'), GOOD.replace('1;', ';')]
    const named = await groupsOf(rows)
    expect(named.map(({ column, remedy, found }) => [column, remedy, found.map(({ value }) => value)])).toContainEqual([
      'Nr',
      'Give each row an id in Nr that no other row has.',
      [],
    ])
    expect(named.find(({ fault }) => fault === 'duplicate-id')).toMatchObject({ column: 'Nr', found: [{ value: '1' }] })
    expect(remedies(await groupsOf([GOOD], { ids: false }))).toEqual([
      'Give each row a GUID in Nr that no other row has, or set crm.idNamespace to a UUID of your own, which takes any text or number as an id and gives every record a new address.',
    ])
  })

  it('columns that are read together are told as such, and no cell that holds both', async () => {
    const groups = await groupsOf([
      GOOD.replace('2027-06-21;19:30', '21.06.2027;19:30'),
      GOOD.replace('1;', '2;').replace('2027-06-21;19:30', ';'),
    ])
    expect(remedies(groups)).toEqual([
      expect.stringMatching(
        /^Correct Tag and Zeit, which are read together \(expected: .*\), or add DD\.MM\.YYYY hh:mm to crm\.texts\.dates\.$/,
      ) as never,
      'Fill in Tag and Zeit, which are read together.',
    ])
  })

  it('a duration after Start has no column to fill in', async () => {
    using folder = new WorkFolder({
      'marquee.yaml': configuration().replace('Finish: Ende', 'Finish: { lasting: 2h }'),
      'Plan.csv': [HEADER, GOOD, 'Summe;;;;;;', ''].join('\n'),
      'Orte.csv': 'Name\n',
    })
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { groups, suspicious } = JSON.parse(stdout) as Record<'groups' | 'suspicious', readonly Group[]>
    expect(groups.map(({ column, fault }) => [column, fault])).toEqual([['Tag + Zeit', 'missing']])
    // The footer's price is blank, and no event is served with it.
    expect(suspicious.map(({ column }) => column)).not.toContain('Preis')
  })

  it.each([
    ['01.03.2027', 'DD.MM.YYYY'],
    ['1.3.27 19:30', 'D.M.YY hh:mm'],
    ['Mo., 15.03.2027, 19:30 Uhr', '"ddd, DD.MM.YYYY, hh:mm Uhr"'],
    ['15/03/2027 9h30', 'DD/MM/YYYY hh:mm'],
    ['15-03-2027 om 20.30 uur', 'DD-MM-YYYY hh:mm'],
    ['3/15/2027 7 PM – 9 PM', 'M/D/YYYY h A'],
  ])('the format of a date, in check and explain alike: %s', async (date, format) => {
    const rows = [HEADER, GOOD, GOOD.replace('1;', '2;').replace('2027-06-21 22:00', date), '']
    const written = (dates: string): Record<string, string> => ({
      'marquee.yaml': configuration({ texts: `${TEXTS}, dates: [${dates}]` }),
      'Plan.csv': rows.join('\n'),
      'Orte.csv': 'Name\n',
    })
    using folder = new WorkFolder(written(''))
    const told = `add ${format} to crm.texts.dates`
    const { groups } = JSON.parse((await runCommand(['check', '--json'], { cwd: folder.path })).stdout) as {
      groups: readonly Group[]
    }
    expect(remedies(groups)).toEqual([expect.stringContaining(told) as never])
    const explained = await runCommand(['explain', '2'], { cwd: folder.path })
    expect(explained.stdout).toContain(told)
    using mended = new WorkFolder(written(format))
    const { stdout } = await runCommand(['check', '--json'], { cwd: mended.path })
    expect((JSON.parse(stdout) as { groups: readonly Group[] }).groups).toEqual([])
  })

  it('no second format of dates for a day that the configured one does not have', async () => {
    const groups = await groupsOf([GOOD.replace('2027-06-21 22:00', '07/25/2027 22:00')], {
      texts: `${TEXTS}, dates: [DD/MM/YYYY hh:mm]`,
    })
    expect(remedies(groups)).toEqual(['Correct Ende: format the column as yyyy-mm-dd hh:mm for "07/25/2027 22:00".'])
  })

  it('a file of a list may be named as an object without a sheet', async () => {
    expect(await groupsOf([GOOD], { from: '{ file: Plan.csv }' })).toEqual([])
  })
})
