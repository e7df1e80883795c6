import fc from 'fast-check'
import { describe, expect, it } from 'bun:test'
import { type Zone, openZone } from '../../domain/zone.ts'
import { type Cell, CellFault, DecimalText, cellAt } from '../cells/cell.ts'
import {
  conversionsOf,
  toDecimal,
  toFlag,
  toId,
  toInt32,
  toLinks,
  toLinksOfText,
  toTags,
  toText,
  toVenueId,
} from './conversions.ts'
import { dateReader, dateRules } from './dates.ts'
import { RowFault } from '../../domain/withheld.ts'
import { parseGuid } from '../../domain/guid.ts'
import { remembered } from '../../domain/named-ids.ts'

const CELL_FAULT = Symbol('cell fault')
const GUID = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
const NONE = '00000000-0000-0000-0000-000000000000'
const london = openZone('Europe/London')
const kolkata = openZone('Asia/Kolkata')
if (london === null || kolkata === null) throw new Error('the runtime has no zones')

const londonDates = (wallZone: Zone): ((cell: Cell) => unknown) => {
  const notes = {
    column: 'Start',
    isWallTime: false,
    wallTimes: 0,
    epochSeconds: 0,
    isMidnight: false,
    isDay: false,
    areDays: false,
    seeSkipped: () => {},
    midnight: null,
    formatOfDay: null,
  }
  const origin = {
    column: 'Start',
    cell: cellAt('start'),
    wallZone: () => wallZone,
    listZone: wallZone,
    instead: null,
    hasZone: false,
    isEnd: false,
    isJoined: false,
  }
  const read = dateReader({ ...origin, rules: dateRules([]), notes }, london)
  return (start) => read({ start })
}
const tagsOfText = conversionsOf('text', null).tags
const toLondon = londonDates(london)

const TABLE: readonly (readonly [string, (cell: Cell) => unknown, Cell, unknown])[] = [
  ['a text as it is', toText, ' Été ', ' Été '],
  ['an empty text', toText, '', ''],
  ['a null text', toText, null, null],
  ['a number in a text column as its source text', toText, new DecimalText('1.50e1'), '1.50e1'],
  ['an integer in a text column', toText, 42, '42'],
  ['no boolean as a text', toText, true, CELL_FAULT],
  ['no list as a text', toText, ['a'], CELL_FAULT],
  ['no object as a text', toText, { a: 1 }, CELL_FAULT],

  ['an integer', toInt32, 250, 250],
  ['an integer with blanks around', toInt32, ' 42 ', 42],
  ['an integral fraction', toInt32, new DecimalText('250.0'), 250],
  ['an exponent', toInt32, '1e3', 1000],
  ['a signed integer', toInt32, '-7', -7],
  ['a blank integer as 0', toInt32, null, 0],
  ['an integer of white space as 0', toInt32, ' \t', 0],
  ['no separators', toInt32, '1,000', CELL_FAULT],
  ['no fraction', toInt32, new DecimalText('2.5'), CELL_FAULT],
  ['no integer beyond 32 bits', toInt32, 2_147_483_648, CELL_FAULT],
  ['no boolean as an integer', toInt32, true, CELL_FAULT],

  ['a decimal with its scale', toDecimal, new DecimalText('12.50'), '12.50'],
  ['a decimal of a text', toDecimal, ' .5 ', '0.5'],
  ['an integer as a decimal', toDecimal, 10, '10'],
  ['a blank decimal as 0', toDecimal, '', '0'],
  ['no decimal comma', toDecimal, '12,50', CELL_FAULT],
  ['no currency', toDecimal, '£12.50', CELL_FAULT],
  ['no number beyond 96 bits', toDecimal, new DecimalText('1e40'), CELL_FAULT],

  ['a GUID in braces', toId, `{${GUID.toUpperCase()}}`, GUID],
  ['no empty GUID as an id', toId, NONE, CELL_FAULT],
  ['no null as an id', toId, null, CELL_FAULT],
  ['no number as an id', toId, 17, CELL_FAULT],
  ['a venue', toVenueId, GUID, GUID],
  ['no venue yet', toVenueId, null, NONE],
  ['a blank venue', toVenueId, ' ', NONE],
  ['the empty GUID as no venue', toVenueId, `{${NONE}}`, NONE],
  ['no other text as a venue', toVenueId, 'Guildhall', CELL_FAULT],

  ['true', toFlag, true, true],
  ['TRUE', toFlag, 'TRUE', true],
  ['yes with blanks', toFlag, ' Yes ', true],
  ['1', toFlag, 1, true],
  ['the text 1', toFlag, '1', true],
  ['0', toFlag, 0, false],
  ['no', toFlag, 'no', false],
  ['false', toFlag, 'False', false],
  ['a null flag as blank', toFlag, null, null],
  ['a blank flag', toFlag, ' ', null],
  ['no 2', toFlag, 2, CELL_FAULT],
  ['no y', toFlag, 'y', CELL_FAULT],
  ['no list as a flag', toFlag, [], CELL_FAULT],

  ['an instant in the shown zone', toLondon, '2026-07-12T18:30Z', '2026-07-12T19:30:00+01:00'],
  ['a wall time with a space', toLondon, '2026-07-12 19:30', '2026-07-12T19:30:00+01:00'],
  ['no blank date', toLondon, ' ', CELL_FAULT],
  ['no null date', toLondon, null, CELL_FAULT],
  ['no date alone', toLondon, '2026-07-12', CELL_FAULT],
  ['no American date', toLondon, '7/12/2026 7:30 PM', CELL_FAULT],
  ['no 24:00', toLondon, '2026-07-12T24:00', CELL_FAULT],
  ['no number as a date', toLondon, 1_783_881_000, CELL_FAULT],
  ['no year that cannot be shown', toLondon, '0001-01-01T00:00+01:00', CELL_FAULT],

  ['tags', toTags, ['a', null, new DecimalText('1.50'), ''], ['a', '1.50', '']],
  ['no tags', toTags, null, []],
  ['no list in a list', toTags, ['a', ['b']], CELL_FAULT],
  ['no boolean as a tag', toTags, [true], CELL_FAULT],
  ['no text for a list', toTags, 'a;b', CELL_FAULT],
  ['tags of a text', tagsOfText, ' a ; ;b;', ['a', 'b']],
  ['no tags of a blank text', tagsOfText, '', []],

  ['links', toLinks, [{ Rel: 'r', Href: 'h' }], [{ Rel: 'r', Href: 'h', Title: null }]],
  [
    'a link with more members',
    toLinks,
    [{ Rel: 'r', Href: 'h', Title: '', X: 1 }],
    [{ Rel: 'r', Href: 'h', Title: '' }],
  ],
  ['no links', toLinks, null, []],
  ['no link without Rel', toLinks, [{ Href: 'h' }], CELL_FAULT],
  ['no link with an empty Href', toLinks, [{ Rel: 'r', Href: '' }], CELL_FAULT],
  ['no null among links', toLinks, [null], CELL_FAULT],
  ['no number as a title', toLinks, [{ Rel: 'r', Href: 'h', Title: 1 }], CELL_FAULT],
  ['no text for links', toLinks, '[]', CELL_FAULT],
  ['links of a text', toLinksOfText, '[{"Rel":"r","Href":"h","Title":"t"}]', [{ Rel: 'r', Href: 'h', Title: 't' }]],
  ['no links of a blank text', toLinksOfText, ' ', []],
  ['no links of broken JSON', toLinksOfText, '[{', CELL_FAULT],
]

describe('reading a cell as what its field holds (contract §2)', () => {
  it.each(TABLE)('reads %s', (_name, convert, cell, expected) => {
    const value = convert(cell)
    expect(value instanceof CellFault || value instanceof RowFault ? CELL_FAULT : value).toEqual(expected)
  })

  it('reads a wall time in the zone it is given, and shows it in another', () => {
    expect(londonDates(kolkata)('2026-07-12T19:30')).toBe('2026-07-12T15:00:00+01:00' as never)
  })

  it('never throws, and says in at most 80 characters what was found', () => {
    const cell = fc.letrec<{ cell: Cell }>((tie) => ({
      cell: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null),
        fc.boolean(),
        fc.integer(),
        fc.string({ unit: 'binary', maxLength: 120 }),
        fc.double().map((number) => new DecimalText(String(number))),
        fc.array(tie('cell')),
        fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__'), fc.constant('Rel')), tie('cell')),
      ),
    })).cell
    const conversions = [...new Set(TABLE.map(([, convert]) => convert))]
    fc.assert(
      fc.property(cell, (any) => {
        for (const convert of conversions) {
          const value = convert(any)
          if (value instanceof CellFault || value instanceof RowFault)
            expect(value.found?.length ?? 0).toBeLessThanOrEqual(80)
        }
      }),
    )
  })
})

it('an id is made once for each text, in whatever order the texts come again, as far as there is room', () => {
  const guidOf = (text: string): string => `0d9b6a14-7c3e-4f58-92a1-${text.padStart(12, '0')}`
  const calls: unknown[] = []
  const named = remembered((cell: Cell) => {
    calls.push(cell)
    return (typeof cell === 'string' ? parseGuid(guidOf(cell)) : null) ?? new CellFault({ kind: 'id' }, cell)
  }, 4)
  const orders = ['1234', '1234', '4321', '1124', '3412', '567', '1526']
  for (const order of orders)
    for (const text of order) expect(JSON.stringify(named(text))).toBe(JSON.stringify(guidOf(text)))
  expect(calls).toEqual([...'1234', ...'567', '5', '6'])
  named(null)
  expect(named(null)).toBeInstanceOf(CellFault)
})
