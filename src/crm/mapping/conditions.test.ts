import { describe, expect, it } from 'bun:test'
import type { ConditionPart } from '../../config/crm/sources.ts'
import { type Cell, DecimalText, ErrorCell } from '../cells/cell.ts'
import { conditionsOf, letPassBy } from './conditions.ts'
import { toFlag } from './conversions.ts'

const ERROR = new ErrorCell('the error #REF!', { kind: 'stored', instead: 'of-error' })

function faultOf(part: ConditionPart, cell: Cell): string | null {
  const [check] = conditionsOf([part], 'inactive', toFlag)
  return check?.({ c: cell })?.fault ?? null
}

describe('blank: nothing stands there (SURFACE: Further fields, conditions, ports)', () => {
  it.each<[Cell, string | null]>([
    [null, null],
    ['', null],
    [' \t\u00a0', null],
    ['x', 'inactive'],
    [0, 'inactive'],
    [false, 'inactive'],
    [[], 'inactive'],
    [ERROR, 'unreadable'],
  ])('%p: %p', (cell, fault) => expect(faultOf({ column: 'c', blank: true }, cell)).toBe(fault))
})

describe('one of these, to the letter', () => {
  it.each<[Cell, string | null]>([
    ['x', null],
    ['X', 'inactive'],
    [true, null],
    ['true', null],
    // `[TRUE]` in the configuration is a boolean.
    ['TRUE', null],
    ['True', null],
    ['tRUE', 'inactive'],
    ['FALSE', 'inactive'],
    [false, 'inactive'],
    [null, 'inactive'],
  ])('%p: %p', (cell, fault) => expect(faultOf({ column: 'c', oneOf: ['x', true] }, cell)).toBe(fault))

  it('takes a text that is quoted as it is', () =>
    expect(faultOf({ column: 'c', oneOf: ['true'] }, 'TRUE')).toBe('inactive'))
})

describe('not: none of these, and never published by a slip', () => {
  it.each<[Cell, string | null]>([
    [null, null],
    ['', null],
    ['  ', null],
    ['nein', null],
    ['jaja', null],
    [2, null],
    [false, null],
    ['x', 'inactive'],
    ['X', 'inactive'],
    [' x\u00a0', 'inactive'],
    ['x\u200b', 'inactive'],
    ['ｘ', 'inactive'],
    ['JA', 'inactive'],
    ['grüßt', 'inactive'],
    ['GRÜSST', 'inactive'],
    ['gru\u0308ßt', 'inactive'],
    [1, 'inactive'],
    ['1', 'inactive'],
    [' 01 ', 'inactive'],
    [new DecimalText('1.00'), 'inactive'],
    [new DecimalText('10e-1'), 'inactive'],
    [10, null],
    [true, 'inactive'],
    ['TRUE', 'inactive'],
    [['x'], 'unreadable'],
    [[], 'unreadable'],
    [{ a: 'x' }, 'unreadable'],
    [ERROR, 'unreadable'],
  ])('%p: %p', (cell, fault) =>
    expect(faultOf({ column: 'c', noneOf: ['x', 'Ja', 'grüßt', 1, true] }, cell)).toBe(fault),
  )

  it.each<[Cell, string | null]>([
    ['Abgesagt wegen Krankheit', 'inactive'],
    ['ABGESAGT: krank', 'inactive'],
    ['abgesagt (2)', 'inactive'],
    ['Abgesagte', null],
    ['nicht abgesagt', null],
    ['x-large', null],
    ['12 Plätze', null],
  ])('a remark after an excluded word of three letters or more: %p: %p', (cell, fault) =>
    expect(faultOf({ column: 'c', noneOf: ['abgesagt', 'x', 12] }, cell)).toBe(fault),
  )

  it('tells the values that pass, but neither those that do not nor blank ones', () => {
    const [{ valueIn } = { valueIn: () => null }] = letPassBy([{ column: 'c', noneOf: ['x'] }])
    expect([null, ' ', 'x', 'X ', ['x'], 'y', 1].map((c) => valueIn({ c }))).toEqual([
      null,
      null,
      null,
      null,
      null,
      '"y"',
      '1',
    ])
  })
})

describe('a list of values: to the letter, as before', () => {
  it.each<[Cell, string | null]>([
    ['x', null],
    ['X', 'inactive'],
    ['x ', 'inactive'],
    [null, 'inactive'],
    [1, null],
    [new DecimalText('1.0'), 'inactive'],
  ])('%p: %p', (cell, fault) => expect(faultOf({ column: 'c', oneOf: ['x', 1] }, cell)).toBe(fault))
})
