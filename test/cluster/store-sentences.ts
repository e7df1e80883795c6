import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import type { Claim, WritePosition, StoreConnection, StoredEntry, Write } from '../../src/cluster/store.ts'
import { StoreFailure } from '../../src/cluster/store.ts'

type Connect = () => Promise<StoreConnection>

const NOBODY: WritePosition = { token: '', seq: 0 }

export function claimOf(given: Partial<Claim> = {}): Claim {
  const [seen, highest] = [NOBODY, { epoch: 0, seq: 0 }]
  return { token: 'a1', seen, highest, after: null, isNew: true, who: 'one', ...given }
}

export function writeOf(at: WritePosition, given: Partial<Write> = {}): Write {
  return { at, beat: null, cutSeq: 0, ready: false, notes: '', rows: [], ...given }
}

/** A row as the scripts see it: its kind, its id, and a text. */
export function rowOf(kind: number, id: number, text = ''): Buffer {
  return Buffer.concat([Buffer.from([kind]), Buffer.alloc(16, id), Buffer.from(text)])
}

async function leads(store: StoreConnection): Promise<WritePosition> {
  const claimed = await store.claim(claimOf())
  assert.deepEqual(claimed, { seq: 1, epoch: 1 })
  return { token: 'a1', seq: 1 }
}

async function rowsOf(store: StoreConnection, list: 'events' | 'venues'): Promise<readonly string[]> {
  const found: string[] = []
  let cursor = '0'
  do {
    const part = await store.scan(list, cursor, 10)
    found.push(...part.rows.map((row) => row.toString('latin1')))
    cursor = part.cursor
  } while (cursor !== '0')
  return [...new Set(found)].toSorted()
}

const textsOf = (rows: readonly Buffer[]): readonly string[] => rows.map((row) => row.toString('latin1')).toSorted()

function kindOf({ claim, rows, beat }: StoredEntry): string {
  return claim !== null ? 'claim' : rows !== null ? 'rows' : beat === null ? 'nothing' : 'beat'
}

/** What each store does, in memory and Redis. */
export const SENTENCES: Readonly<Record<string, (connect: Connect) => Promise<void>>> = {
  'is blank at first': async (connect) => {
    const store = await connect()
    assert.deepEqual(await store.state(), { token: '', seq: 0, epoch: 0, isReady: false, beat: null })
    assert.deepEqual(await store.readAfter(0, 1, 16), [])
    assert.deepEqual(await rowsOf(store, 'events'), [])
  },

  'takes one of several claims that saw the same': async (connect) => {
    const [one, other] = [await connect(), await connect()]
    const claims = await Promise.all([one.claim(claimOf()), other.claim(claimOf({ token: 'b2' }))])
    assert.equal(claims.filter((claim) => claim !== null).length, 1)
    const { token, seq, epoch } = await one.state()
    assert.deepEqual([claims[token === 'a1' ? 0 : 1], seq, epoch], [{ seq: 1, epoch: 1 }, 1, 1])
  },

  'begins above what a claim knows': async (connect) => {
    const store = await connect()
    const highest = { epoch: 7, seq: 41 }
    assert.deepEqual(await store.claim(claimOf({ highest })), { seq: 42, epoch: 8 })
    const after = { token: 'a1', seq: 90 }
    assert.deepEqual(await store.claim(claimOf({ token: 'b2', seen: { token: 'a1', seq: 42 }, after })), {
      seq: 91,
      epoch: 9,
    })
    const [, entry] = await store.readAfter(0, 1, 16)
    assert.deepEqual(entry?.claim, { epoch: 9, after, who: 'one' })
  },

  'is written by who claimed it last, one write after the other': async (connect) => {
    const store = await connect()
    const at = await leads(store)
    assert.notEqual(await store.write(writeOf(at)), null)
    assert.equal(await store.write(writeOf(at)), null)
    assert.notEqual(await store.write(writeOf({ ...at, seq: 2 })), null)
    assert.deepEqual(await store.claim(claimOf({ token: 'b2', seen: { ...at, seq: 2 } })), null)
    assert.deepEqual(await store.claim(claimOf({ token: 'b2', seen: { ...at, seq: 3 } })), { seq: 4, epoch: 2 })
    assert.equal(await store.write(writeOf({ ...at, seq: 3 })), null)
    assert.equal(await store.fill('a1', [rowOf(1, 1)]), false)
    assert.equal((await store.state()).seq, 4)
  },

  'has the rows of both lists, and their last contents': async (connect) => {
    const store = await connect()
    const at = await leads(store)
    const [event, venue, hidden] = [rowOf(1, 1, 'Tosca'), rowOf(2, 1, 'Hall'), rowOf(3, 2, '{}')]
    assert.equal(await store.fill('a1', [event, venue]), true)
    const rows = [hidden, rowOf(2, 3, 'Foyer'), rowOf(2, 3, 'Bar')]
    const sizes = await store.write(writeOf(at, { rows, beat: '{}', ready: true }))
    assert.deepEqual(sizes, { events: 2, venues: 2 })
    assert.deepEqual(await rowsOf(store, 'events'), textsOf([event, hidden]))
    assert.deepEqual(await rowsOf(store, 'venues'), textsOf([venue, rowOf(2, 3, 'Bar')]))
    const gone = [rowOf(5, 1), rowOf(6, 3)]
    assert.deepEqual(await store.write(writeOf({ ...at, seq: 2 }, { rows: gone, beat: '{}' })), {
      events: 1,
      venues: 1,
    })
  },

  'is ready once the leader says so, and no more after a claim that fills it anew': async (connect) => {
    const store = await connect()
    const at = await leads(store)
    await store.write(writeOf(at, { rows: [rowOf(1, 1)] }))
    assert.equal((await store.state()).isReady, false)
    await store.write(writeOf({ ...at, seq: 2 }, { beat: '{"leader":"one"}', ready: true }))
    const { isReady, beat } = await store.state()
    assert.deepEqual([isReady, beat], [true, '{"leader":"one"}'])
    await store.claim(claimOf({ token: 'b2', seen: { ...at, seq: 3 }, isNew: false, after: { ...at, seq: 3 } }))
    assert.deepEqual([(await store.state()).isReady, (await rowsOf(store, 'events')).length], [true, 1])
    await store.claim(claimOf({ token: 'c3', seen: { token: 'b2', seq: 4 } }))
    assert.deepEqual([(await store.state()).isReady, (await rowsOf(store, 'events')).length], [false, 0])
  },

  'tells in order what was written, byte for byte': async (connect) => {
    const store = await connect()
    const at = await leads(store)
    const rows = [rowOf(1, 255, 'é\u0000'), rowOf(4, 0, '')]
    await store.write(writeOf(at, { rows, notes: '{"times":[1]}' }))
    await store.write(writeOf({ ...at, seq: 2 }, { beat: '{}' }))
    const entries = await store.readAfter(0, 1, 16)
    assert.deepEqual(entries.map(kindOf), ['claim', 'rows', 'beat'])
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      [1, 2, 3],
    )
    assert.deepEqual(entries[1]?.rows, Buffer.concat(rows))
    assert.equal(entries[1]?.notes, '{"times":[1]}')
    assert.deepEqual(
      (await store.readAfter(1, 1, 1)).map(({ seq }) => seq),
      [2],
    )
  },

  'wakes who waits for the next write': async (connect) => {
    const [one, other] = [await connect(), await connect()]
    const at = await leads(one)
    const waiting = other.readAfter(1, 10_000, 16)
    await one.write(writeOf(at, { beat: '{}' }))
    assert.deepEqual(
      (await waiting).map(({ seq }) => seq),
      [2],
    )
    assert.deepEqual(await other.readAfter(2, 20, 16), [])
  },

  'keeps what each instance says of itself': async (connect) => {
    const store = await connect()
    await store.tick('one', '1')
    await store.tick('two', '2')
    await store.tick('one', '3')
    assert.deepEqual(
      await store.members(),
      new Map([
        ['one', '3'],
        ['two', '2'],
      ]),
    )
    await store.dropMembers(['one', 'none'])
    await store.dropMembers([])
    assert.deepEqual(await store.members(), new Map([['two', '2']]))
  },

  'fails all that is asked of a connection that is gone': async (connect) => {
    const store = await connect()
    const waiting = store.readAfter(0, 60_000, 16)
    store.destroy()
    for (const asked of [waiting, store.state(), store.write(writeOf(NOBODY))])
      await assert.rejects(asked, StoreFailure)
  },
}
