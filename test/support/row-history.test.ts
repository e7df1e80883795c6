import { describe, expect, it } from 'bun:test'
import { RowHistory } from './row-history.ts'

/** A row that is `first` from 100 on, `second` from 200 to 210 on, gone from 300 on, and `third` from 400 on. */
function history(): RowHistory {
  const rows = new RowHistory()
  rows.write({ id: 'row', atMs: 100, value: 'first' })
  rows.begin({ id: 'row', atMs: 200, value: 'second' })
  rows.end({ id: 'row', atMs: 210 })
  rows.write({ id: 'row', atMs: 300, value: null })
  rows.write({ id: 'row', atMs: 400, value: 'third' })
  return rows
}

const seen = (atMs: number, value: string | null) => ({ id: 'row', atMs, value })

describe('a history of rows', () => {
  it('lets an answer show each state from the beginning of its change until the next one is complete', () => {
    expect(history().check(seen(210, 'first'))).toBeNull()
    expect(history().check(seen(211, 'first'))).toContain('row was shown as first')
    expect(history().check(seen(300, 'second'))).toBeNull()
    expect(history().check(seen(301, 'second'))).toContain('row was shown as second')
    expect(history().check(seen(999, 'third'))).toBeNull()
  })

  it('lets a row be absent before its first state and while it was gone, and at no other time', () => {
    expect(history().check(seen(100, null))).toBeNull()
    expect(history().check(seen(400, null))).toBeNull()
    expect(history().check(seen(401, null))).toContain('row was shown as null')
  })

  it('lets no caller be shown what never was', () => {
    expect(history().check(seen(0, 'fourth'))).toContain('row was shown as fourth')
    expect(history().check({ id: 'other', atMs: 0, value: 'first' })).toContain('other was shown as first')
  })

  it('lets a caller go back to no earlier state, also after an absence, whatever other callers are shown', () => {
    const rows = history()
    expect(rows.check(seen(0, 'second'), 'one')).toBeNull()
    expect(rows.check(seen(0, 'first'), 'one')).toContain('after state 2')
    expect(rows.check(seen(0, null), 'one')).toBeNull()
    expect(rows.check(seen(0, 'second'), 'one')).toContain('after state 3')
    expect(rows.check(seen(0, 'first'), 'other')).toBeNull()
  })

  it('holds an answer against what its caller had been shown when it asked', () => {
    const rows = history()
    const earliest = rows.shown('row')
    expect(rows.check(seen(0, 'third'))).toBeNull()
    expect(rows.check(seen(0, 'first'), '', earliest)).toBeNull()
    expect(rows.shown('row')).toBe(4)
  })
})
