import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { decodeArray, plainId } from './known-table.ts'
import { PostgresFailure } from './postgres-failure.ts'
import { TableLane } from './table-stream.ts'

describe('an array of PostgreSQL', () => {
  it.each([
    ['{}', []],
    ['{a}', ['a']],
    ['{a,b}', ['a', 'b']],
    ['{"a,b","c}"}', ['a,b', 'c}']],
    ['{"say \\"hi\\"","back\\\\slash"}', ['say "hi"', 'back\\slash']],
    ['{NULL,"NULL",null}', [null, 'NULL', 'null']],
    ['{""}', ['']],
    [
      '{{a,b},{c,d}}',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['[0:1]={a,b}', ['a', 'b']],
    ['{ü,😀}', ['ü', '😀']],
  ] as const)('%s', (text, list) => {
    expect(decodeArray(text)).toEqual(list)
  })

  it('stays a text if it has no braces, as vectors have none', () => {
    expect(decodeArray('1 2 3')).toBe('1 2 3')
  })

  it('gives back what its quoting hides', () => {
    const written = (item: string | null) => (item === null ? 'NULL' : `"${item.replace(/["\\]/g, '\\$&')}"`)
    const items = fc.array(fc.option(fc.string({ unit: 'grapheme' })))
    fc.assert(fc.property(items, (list) => expect(decodeArray(`{${list.map(written).join(',')}}`)).toEqual(list)))
  })
})

it('a connection that is lost needs no second one to explain it', async () => {
  let begins = 0
  const query = async () => ({ rows: [['id', 'uuid', '2950', 'f', null]], oids: [] })
  const session = {
    async begin() {
      begins++
      return { connection: 'one', query, async end() {} }
    },
  }
  const list = { quoted: '"events"', tableSettings: { updatedAt: null }, idColumn: 'id', named: [], instead: new Map() }
  const lane = new TableLane(list as never, session as never)
  await lane.open()
  const gone = new PostgresFailure('misconfigured', 'the server has no database of the name', '3D000', true)
  expect(await lane.explained(gone)).toBe(gone)
  expect(begins).toBe(1)
})

it.each([
  ['0000000A-0000-4000-8000-000000000000', 'uuid', '0000000a-0000-4000-8000-000000000000'],
  ['(0000000a-0000-4000-8000-000000000000)', 'uuid', null],
  ['0000000a-0000-4000-8000-000000000000', 'text', null],
  ['007', 'bigint', '7'],
  ["'; DROP TABLE events --", 'integer', null],
])('the id %p of the type %s is written as %p, if there is only one way', (id, type, plain) => {
  expect(plainId(id, type)).toBe(plain)
})
