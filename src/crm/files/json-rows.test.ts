import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { Buffer } from 'node:buffer'
import { type Guid, parseGuid } from '../../domain/guid.ts'
import type { Change } from '../../sync/port.ts'
import { IgnoredColumns } from './list-file.ts'
import { digestOf } from '../cells/row-digest.ts'
import { jsonLines } from './json-rows.ts'
import { FileBatch } from './batch.ts'

const ID = parseGuid('5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34') as Guid
const WITHHELD = { fault: 'missing', column: null, where: '', expected: null, found: null } as const

/** Reads lines for a replica that holds these versions. */
function read(
  lines: readonly string[],
  versions: ReadonlyMap<Guid, number>,
  isWithheld = false,
): readonly Change<null>[] {
  const rows = new FileBatch<null>({ name: '', format: 'ndjson', sizeBytes: 0, writtenAtMs: 0 })
  const held = { size: versions.size, version: (id: Guid) => versions.get(id) ?? Number.NaN }
  const known = { idColumn: 'Id', isDerived: false, idOf: parseGuid, seed: 0, skip: () => {} }
  const { onRow: take } = jsonLines<null>(
    { rows, held, columns: new IgnoredColumns(['Id', 'Name']), lines: () => known },
    (_, __, version = Number.NaN) =>
      isWithheld
        ? { kind: 'withheld', id: ID, withheld: WITHHELD, version }
        : { kind: 'record', id: ID, record: null, version },
  )
  for (const [index, line] of lines.entries()) {
    // Surrounded by other bytes, as in a chunk of a file.
    const bytes = Buffer.from(`{"Id":"x"}\n${line}\n{"Id":"${ID}"}`)
    void take(bytes, 11, 11 + Buffer.byteLength(line), index + 1)
  }
  return rows.take().mapped ?? []
}

function versionsAfter(changes: readonly Change<null>[]): ReadonlyMap<Guid, number> {
  return new Map(changes.flatMap((change) => ('version' in change ? [[ID, change.version] as const] : [])))
}

describe('a line that was read before', () => {
  it.each([
    `{"Id":"${ID}","Name":"Gala"}`,
    `{"Name":"Café", "Id" : "${ID}"}`,
    `{"Id":"{${ID.toUpperCase()}}"}`,
    `{"Id":"${ID.replaceAll('-', '')}"}`,
  ])('is known again by its id and its bytes: %s', (line) => {
    const first = read([line], new Map())
    expect(first).toMatchObject([{ kind: 'record' }])
    expect(read([line], versionsAfter(first))).toEqual([{ kind: 'unchanged', id: ID }])
  })

  it('is read in full where the replica holds another line, or nothing, of its id', () => {
    const versions = versionsAfter(read([`{"Id":"${ID}","Name":"Gala"}`], new Map()))
    expect(read([`{"Id":"${ID}","Name":"Ball"}`], versions)).toMatchObject([{ kind: 'record' }])
    expect(read([`{"Id":"${ID}","Name":"Gala"}`], new Map())).toMatchObject([{ kind: 'record' }])
  })

  it('is read in full where its row is withheld, for it may stand elsewhere now', () => {
    const line = `{"Id":"${ID}"}`
    const first = read([line], new Map(), true)
    expect(read([line], versionsAfter(first), true)).toMatchObject([{ kind: 'withheld' }])
  })

  it.each([
    '{"Name":"its \\"Id\\":\\"',
    `{"Links":[{"Id":"${ID}"}],"Id":"other"}`,
    '{"Id":',
    '{"Name":"Gala"}',
    '{"Id":7}',
  ])('is read in full where no id is found in it, or one in another place: %s', (line) => {
    const changes = read([line], new Map([[ID, 1]]))
    expect(changes.some(({ kind }) => kind === 'unchanged')).toBe(false)
  })
})

it('is a function of the bytes alone', () => {
  const bytes = Buffer.from('..{"Id":1}..')
  expect(digestOf(bytes.subarray(2, 10))).toBe(digestOf(Buffer.from('{"Id":1}')))
  expect(digestOf(bytes, 2, 10)).toBe(digestOf(Buffer.from('{"Id":1}')))
})

it('is a whole number of 53 bits', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const digest = digestOf(bytes)
      expect(Number.isSafeInteger(digest) && digest >= 0).toBe(true)
    }),
  )
})

it('differs among 300,000 lines that differ in little, in each half too', () => {
  const digests = new Set<number>()
  const [high, low] = [new Set<number>(), new Set<number>()]
  for (let index = 0; index < 300_000; index++) {
    const digest = digestOf(Buffer.from(`{"Id":"${index}","Name":"Gala","TicketsAvailable":${index % 250}}`))
    digests.add(digest)
    high.add(Math.floor(digest / 2 ** 32))
    low.add(digest % 2 ** 32)
  }
  expect(digests.size).toBe(300_000)
  // The expected numbers of distinct values among 300,000 draws of 2²¹ and of 2³²: 280,000, and all but about ten.
  expect(high.size).toBeGreaterThan(275_000)
  expect(low.size).toBeGreaterThan(299_900)
})

it('differs where one bit does', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(), (bytes, bit) => {
      const before = digestOf(bytes)
      const at = bit % (bytes.length * 8)
      bytes[at >> 3] = (bytes[at >> 3] ?? 0) ^ (1 << (at & 7))
      expect(digestOf(bytes)).not.toBe(before)
    }),
  )
})
