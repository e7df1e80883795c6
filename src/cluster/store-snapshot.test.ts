import { describe, expect, it } from 'bun:test'
import { UNREVISED } from '../domain/revision.ts'
import { Buffer } from 'node:buffer'
import { guidOf } from '../../test/model/records.ts'
import { override } from '../../test/model/override.ts'
import { MemoryStore } from '../../test/support/memory-store.ts'
import { systemWire } from '../../test/support/system-wire.ts'
import { systemTime } from '../time/time.ts'
import { Signing } from './entries.ts'
import { Session, StoreFailure } from './store.ts'
import { dropSnapshotsBut, makeRoom, writeChunks } from './store-snapshot.ts'

const SIGNING = new Signing('0123456789ab', null)
const LIMIT_MS = 4000

async function withSnapshots(
  chunks: Readonly<Record<string, string>>,
): Promise<{ store: MemoryStore; session: Session }> {
  const store = new MemoryStore()
  for (const [name, count] of Object.entries(chunks)) {
    store.snapshots.set(name, count)
    store.blobs.set(`snapshot:${name}:0`, Buffer.from('a chunk'))
  }
  const connect = () => store.connect(systemWire)
  const session = await Session.open({ connect }, systemTime, LIMIT_MS, new AbortController().signal)
  return { store, session }
}

describe('room for a claim', () => {
  it('is not made from the snapshot of an instance that has claimed meanwhile', async () => {
    const { store, session } = await withSnapshots({ '2-7': '1', '3-7': '1', '4-0': '1', '10-1': '1' })
    await makeRoom(session, { epoch: 3, number: 9, claimId: 'f'.repeat(16) }, SIGNING)
    expect([...store.snapshots.keys()]).toEqual(['4-0', '10-1'])
    expect([...store.blobs.keys()]).toEqual(['snapshot:4-0:0', 'snapshot:10-1:0'])
  })
})

describe('the list of snapshots', () => {
  it('costs one command for an entry of another program, whatever it is called', async () => {
    const { store, session } = await withSnapshots({ ['1-0'.repeat(1000)]: '10000', '1-0': '2' })
    const dropped: string[] = []
    const undo = override(
      store.blobs,
      'delete',
      (original) =>
        function drop(this: Map<string, Buffer>, name: string) {
          dropped.push(name)
          return original.call(this, name)
        },
    )
    await dropSnapshotsBut(session, () => false, SIGNING)
    undo()
    expect(dropped).toEqual(['snapshot:1-0:0', 'snapshot:1-0:1'])
    expect(store.snapshots.size).toBe(0)
  })

  it('replaces data of another application under its key', async () => {
    const { store, session } = await withSnapshots({})
    const undo = override(store.snapshots, 'set', () => () => {
      throw new StoreFailure('foreign', 'WRONGTYPE')
    })
    const undoClear = override(store.snapshots, 'clear', () => undo)
    const rows = [
      { list: 'events', says: 'version', id: guidOf(1), version: 2, revision: UNREVISED, text: '' },
    ] as const
    const pause = () => Promise.resolve()
    const chunks = await writeChunks(session, { epoch: 1, number: 0, claimId: '' }, rows, pause)
    undoClear()
    expect([chunks.length, store.snapshots.get('1-0')]).toEqual([1, '1'])
  })
})
