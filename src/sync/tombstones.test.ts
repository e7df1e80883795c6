import { describe, expect, it } from 'bun:test'
import type { Guid } from '../domain/guid.ts'
import { Tombstones } from './tombstones.ts'

const id = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34' as Guid
const other = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e35' as Guid

describe('Tombstones', () => {
  it('keep a deleted row away from pages whose request began before the deletion was known', () => {
    const tombstones = new Tombstones()
    tombstones.bury(id, 50)
    expect(tombstones.absentSince(id)).toBe(50)
    expect(tombstones.absentSince(other)).toBe(Number.NEGATIVE_INFINITY)
    tombstones.forget(id)
    expect(tombstones.absentSince(id)).toBe(Number.NEGATIVE_INFINITY)
  })

  it('are forgotten once all rows are known as of a later moment, which replaces them', () => {
    const tombstones = new Tombstones()
    tombstones.bury(id, 50)
    tombstones.bury(other, 70)
    tombstones.completeAsOf(60, false)
    expect(tombstones.size).toBe(1)
    expect([tombstones.absentSince(id), tombstones.absentSince(other)]).toEqual([60, 70])
    tombstones.completeAsOf(40, true)
    expect(tombstones.absentSince(id)).toBe(60)
    tombstones.completeAsOf(70, false)
    expect(tombstones.size).toBe(0)
  })

  it('admit rows that no read of changes reports while an audit runs, except those deleted or seen to be absent', () => {
    const tombstones = new Tombstones()
    tombstones.duringAudit(true)
    tombstones.bury(id, 50)
    tombstones.completeAsOf(60, false)
    expect([tombstones.absentSince(id), tombstones.absentSince(other)]).toEqual([50, Number.NEGATIVE_INFINITY])
    tombstones.completeAsOf(70, true)
    expect([tombstones.absentSince(id), tombstones.absentSince(other)]).toEqual([70, 70])
    tombstones.duringAudit(false)
    tombstones.completeAsOf(80, false)
    expect(tombstones.absentSince(id)).toBe(80)
  })
})
