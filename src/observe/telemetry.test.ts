import { describe, expect, it } from 'bun:test'
import { readEnded } from '../../test/support/read-ended.ts'
import { ReadHistory } from './telemetry.ts'

describe('the history of reads', () => {
  it('joins equal reads, which keeps a fault of an hour ago visible', () => {
    const history = new ReadHistory()
    history.note(readEnded({ outcome: 'broken', message: 'events.json, line 3' }), 0)
    for (let second = 1; second <= 3600; second++) {
      history.note(readEnded({}), second * 1000)
      history.note(readEnded({ list: 'venues' }), second * 1000)
    }
    expect(history.reads.map(({ times, read }) => [read.list, read.outcome, times])).toEqual([
      ['venues', 'ok', 3600],
      ['events', 'ok', 3600],
      ['events', 'broken', 1],
    ])
    expect(history.reads[0]).toMatchObject({ from: '1970-01-01T00:00:01.000Z', until: '1970-01-01T01:00:00.000Z' })
  })

  it('keeps a read with changes separate, and at most 50 entries', () => {
    const history = new ReadHistory()
    for (let changed = 1; changed <= 60; changed++) history.note(readEnded({ changed }), changed)
    expect(history.reads).toHaveLength(50)
    expect(history.reads[0]?.read.changed).toBe(60)
  })

  it('keeps a read with changes separate from the idle ones after it', () => {
    const history = new ReadHistory()
    for (const changed of [5, 0, 0]) history.note(readEnded({ changed }), 0)
    expect(history.reads.map(({ times, read }) => [read.changed, times])).toEqual([
      [0, 2],
      [5, 1],
    ])
  })

  it('remembers ignored columns, at most 100 of a list', () => {
    const history = new ReadHistory()
    const columns = Array.from({ length: 300 }, (_, index) => `Column${index}`)
    history.note({ kind: 'columns-ignored', list: 'events', columns }, 0)
    history.note({ kind: 'columns-ignored', list: 'events', columns: ['Column0'] }, 0)
    expect(history.ignoredColumns('events')).toHaveLength(100)
    expect(history.ignoredColumns('venues')).toEqual([])
  })
})
