import { beforeEach, describe, expect, it } from 'bun:test'
import { parseGuid } from '../../domain/guid.ts'
import type { Guid } from '../../domain/guid.ts'
import { KnownLines } from './known-lines.ts'

const ID = parseGuid('5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34') as Guid

describe('a line that was read before', () => {
  const versions = new Map<Guid, number>()
  const held = { version: (id: Guid) => versions.get(id) ?? Number.NaN, size: 1 }
  let known: KnownLines
  /** A read in full, of which the replica holds what it said. */
  beforeEach(() => {
    known = new KnownLines()
    known.begin(held)
    expect(known.unchanged(7)).toBeNull()
    known.learn(7, ID)
    versions.clear()
    versions.set(ID, 7)
    known.applied()
    known.finish()
    known.begin(held)
  })

  it('is known again, and in the read after too', () => {
    for (let read = 0; read < 3; read++) {
      expect(known.unchanged(7)).toBe(ID)
      known.finish()
      known.begin(held)
    }
  })

  it('is read in full where the replica holds another line, or nothing, of its id', () => {
    versions.set(ID, 8)
    expect(known.unchanged(7)).toBeNull()
    versions.delete(ID)
    expect(known.unchanged(7)).toBeNull()
  })

  it('is read in full where it comes twice', () => {
    expect(known.unchanged(7)).toBe(ID)
    expect(known.unchanged(7)).toBeNull()
  })

  it('is read in full where its id came before it with another line, which the replica may not hold yet', () => {
    known.learn(8, ID)
    expect(known.unchanged(7)).toBeNull()
  })

  it('is read in full where its id came before it with a line that is withheld, until the read has ended', () => {
    known.withhold(8, ID)
    known.applied()
    expect(known.unchanged(7)).toBeNull()
  })

  it('is read in full after a read without it', () => {
    known.finish()
    known.begin(held)
    expect(known.unchanged(7)).toBeNull()
  })

  it('is forgotten in time where reads fail again and again, so that they do not fill the memory', () => {
    for (let read = 0; read < 200; read++) {
      known.begin(held)
      for (let line = 0; line < 1000; line++) known.learn(read * 1000 + line, ID)
      known.applied()
    }
    // Of 200,000 lines those of a few reads: 28 bytes a bucket, a third to two thirds full.
    expect(known.sizeBytes).toBeLessThan(5 * 1000 * 3 * 28)
  })

  it('is still known after a read that failed', () => {
    known.begin(held)
    expect(known.unchanged(7)).toBe(ID)
  })
})
