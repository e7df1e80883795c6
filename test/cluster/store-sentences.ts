import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import type { StoredEntry, StoreConnection } from '../../src/cluster/store.ts'

/** What is tried with a store that has nothing in it. */
export type Sentence = (connect: () => Promise<StoreConnection>) => Promise<void>

export function entryOf(id: string, text = id, body: Buffer | null = null): StoredEntry {
  return { id, h: JSON.stringify({ text }), b: body, s: null }
}

/** A texts and bytes, whatever bytes they are held in. */
function plain({ id, h, b, s }: StoredEntry): unknown {
  return { id, h, b: b === null ? null : Buffer.from(b).toString('hex'), s }
}

const idsOf = (entries: readonly StoredEntry[]): readonly string[] => entries.map(({ id }) => id)

/** What the port promises of every store, in memory or a server. */
export const SENTENCES: Readonly<Record<string, Sentence>> = {
  async 'gives back what was appended, byte for byte'(connect) {
    const store = await connect()
    const body = Buffer.from([0, 13, 10, 255, 128, 36, 0])
    const given = { id: '1-0', h: '{"kind":"cläim\\r\\n"}', b: body, s: 'c2ln' }
    assert.equal(await store.append(given, true), 'added')
    const [read] = await store.readFrom('1-0', 10)
    assert.deepEqual(plain(read ?? entryOf('none')), plain(given))
    const top = await store.top()
    assert.deepEqual(plain(top ?? entryOf('none')), plain(given))
  },
  async 'refuses an id that is not above the top'(connect) {
    const store = await connect()
    await store.append(entryOf('9-9'), true)
    assert.equal(await store.append(entryOf('9-9', 'another'), true), 'refused')
    assert.equal(await store.append(entryOf('8-10'), true), 'refused')
    assert.equal(await store.append(entryOf('10-0'), false), 'added')
    assert.deepEqual(idsOf(await store.readFrom('0-0', 10)), ['9-9', '10-0'])
  },
  async 'accepts exactly one of forty claims at once'(connect) {
    const claimants = await Promise.all(Array.from({ length: 40 }, connect))
    const ended = await Promise.all(claimants.map((store, at) => store.append(entryOf('3-0', `${at}`), true)))
    assert.equal(ended.filter((one) => one === 'added').length, 1)
    const [store] = claimants
    assert.equal((await store?.readFrom('0-0', 10))?.length, 1)
  },
  async 'says that there is no log, and creates none where it must not'(connect) {
    const store = await connect()
    assert.equal(await store.append(entryOf('1-1'), false), 'no-log')
    assert.equal(await store.top(), null)
    assert.deepEqual(await store.readAfter('0-0', 0, 16), [])
    assert.deepEqual(await store.readFrom('0-0', 1), [])
  },
  async 'reads what follows an id, and from an id on'(connect) {
    const store = await connect()
    for (const id of ['1-0', '1-1', '2-0', '2-1']) await store.append(entryOf(id), true)
    assert.deepEqual(idsOf(await store.readAfter('1-1', 0, 16)), ['2-0', '2-1'])
    assert.deepEqual(idsOf(await store.readFrom('1-1', 2)), ['1-1', '2-0'])
    assert.deepEqual(idsOf(await store.readFrom('1-7', 1)), ['2-0'])
    assert.equal((await store.top())?.id, '2-1')
  },
  async 'waits for what follows until it comes'(connect) {
    const [leader, writer] = [await connect(), await connect()]
    await writer.append(entryOf('1-0'), true)
    const waited = leader.readAfter('1-0', 10_000, 16)
    await writer.append(entryOf('1-1'), false)
    assert.deepEqual(idsOf(await waited), ['1-1'])
  },
  async 'waits no longer than it is told'(connect) {
    const store = await connect()
    await store.append(entryOf('1-0'), true)
    assert.deepEqual(await store.readAfter('1-0', 20, 16), [])
  },
  async 'lets go of what lies before an id, and of the whole log'(connect) {
    const store = await connect()
    for (const id of ['1-0', '1-1', '1-2']) await store.append(entryOf(id), true)
    await store.trimBefore('1-1')
    assert.deepEqual(idsOf(await store.readFrom('0-0', 10)), ['1-1', '1-2'])
    await store.drop(['log'])
    assert.equal(await store.top(), null)
    assert.equal(await store.append(entryOf('1-3'), false), 'no-log')
  },
  async 'keeps blobs by name'(connect) {
    const store = await connect()
    assert.equal(await store.getBlob('snapshot'), null)
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    await store.putBlob('snapshot', bytes)
    await store.putBlob('snapshot:1-0:0', Buffer.from('a'))
    assert.equal(Buffer.from((await store.getBlob('snapshot')) ?? []).toString('hex'), bytes.toString('hex'))
    assert.equal(await store.countBlobs(['snapshot', 'snapshot:1-0:0', 'snapshot:1-0:1']), 2)
    await store.drop(['snapshot:1-0:0', 'snapshot:1-0:7'])
    await store.drop([])
    assert.equal(await store.getBlob('snapshot:1-0:0'), null)
  },
  async 'keeps a nonce an instance'(connect) {
    const store = await connect()
    assert.equal((await store.readFields('nonces', 99))?.size, 0)
    await store.writeField('nonces', 'a', '1')
    await store.writeField('nonces', 'b', '{"ä":"\\n"}')
    await store.writeField('nonces', 'a', '2')
    await store.dropFields('nonces', [])
    const held = new Map([
      ['a', '2'],
      ['b', '{"ä":"\\n"}'],
    ])
    assert.deepEqual(await store.readFields('nonces', 99), held)
    await store.dropFields('nonces', ['a', 'c'])
    assert.deepEqual([...((await store.readFields('nonces', 99)) ?? []).keys()], ['b'])
  },
  async 'says that there are more nonces than are read, and drops them all'(connect) {
    const store = await connect()
    for (let at = 0; at < 20; at++) await store.writeField('nonces', `${at}`, '1')
    assert.equal(await store.readFields('nonces', 19), null)
    assert.equal((await store.readFields('nonces', 20))?.size, 20)
    await store.drop(['nonces'])
    assert.equal((await store.readFields('nonces', 19))?.size, 0)
  },
  async 'keeps which snapshots are being written'(connect) {
    const store = await connect()
    await store.writeField('snapshots', '1-7', '0')
    await store.writeField('snapshots', '1-7', '3')
    await store.writeField('snapshots', '2-0', '1')
    const entered = new Map([
      ['1-7', '3'],
      ['2-0', '1'],
    ])
    assert.deepEqual(await store.readFields('snapshots', 2), entered)
    assert.equal(await store.readFields('snapshots', 1), null)
    await store.dropFields('snapshots', [])
    await store.dropFields('snapshots', ['1-7'])
    assert.equal((await store.readFields('snapshots', 9))?.size, 1)
    await store.drop(['snapshots'])
    assert.equal((await store.readFields('snapshots', 9))?.size, 0)
  },
  async 'tells whether the log moves, not what is in it'(connect) {
    const [store, writer] = [await connect(), await connect()]
    assert.equal(await store.moves(20), false)
    await writer.append(entryOf('1-0'), true)
    assert.equal(await store.moves(20), false)
    const moves = store.moves(10_000)
    let number = 0
    // Again and again: nobody says which of two connections is heard first.
    let entered: Promise<unknown> = Promise.resolve()
    const timer = setInterval(() => {
      entered = entered.then(() => writer.append(entryOf(`1-${++number}`), false))
    }, 20)
    assert.equal(await moves.finally(() => clearInterval(timer)), true)
    // The store must not go while an entry is under way.
    await entered
  },
  async 'is a primary, and answers'(connect) {
    const store = await connect()
    await store.ping()
    assert.equal(await store.isPrimary(), true)
  },
  async 'fails what waits as lost when its connection is let go'(connect) {
    const store = await connect()
    await store.append(entryOf('1-0'), true)
    const waited = store.readAfter('1-0', 60_000, 16)
    store.destroy()
    await assert.rejects(waited, { name: 'StoreFailure', fault: 'lost' })
    await assert.rejects(store.top(), { name: 'StoreFailure', fault: 'lost' })
  },
}
