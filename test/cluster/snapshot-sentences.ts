import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { pack } from '../../src/cluster/snapshot-chunks.ts'
import { Signing } from '../../src/cluster/entries.ts'
import { Session, StoreFailure } from '../../src/cluster/store.ts'
import { planSeeds } from '../support/depth.ts'
import { begun, MAX_AGE_MS, follower, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import { override } from '../model/override.ts'

const SEEDS = planSeeds(3)

/** The snapshots of which the store has a part. */
function snapshotsIn({ store }: Fleet): ReadonlySet<string> {
  return new Set([...store.blobs.keys()].flatMap((name) => name.split(':')[1] ?? []))
}

/** Rows that no instance writes. */
const UNREADABLE: Readonly<Record<string, Buffer>> = {
  'is cut short': Buffer.from([1, 2, 3]),
  'is of a kind that there is not': Buffer.alloc(40, 99),
  'is no packed record': Buffer.concat([Buffer.from([1]), Buffer.alloc(27), Buffer.from([1]), Buffer.from('x')]),
  'is withheld for nothing': Buffer.concat([Buffer.from([3]), Buffer.alloc(27), Buffer.from([2]), Buffer.from('{}')]),
}

async function unreadable(body: Buffer): Promise<void> {
  for (const seed of SEEDS) {
    const fleet = new Fleet({ ...token, readersWhenLost: 1 }, seed)
    await begun(fleet)
    const followers = [await follower(fleet), await follower(fleet)]
    await fleet.pass(MAX_AGE_MS)
    const signing = new Signing('model', fleet.key)
    let isBroken = false
    const undo = override(
      fleet.store,
      'append',
      (original) =>
        function append(this: Fleet['store'], entry, ...more) {
          if (isBroken || !entry.h.includes('"kind":"rows"')) return original.call(this, entry, ...more)
          isBroken = true
          const b = pack(body)
          return original.call(this, { ...entry, b, s: signing.sign('log', entry.id, entry.h, b) }, ...more)
        },
    )
    await must(fleet, () => isBroken, MAX_AGE_MS)
    undo()
    await must(fleet, () => (fleet.news['resynced'] ?? 0) >= 2, MAX_AGE_MS)
    await must(fleet, () => followers.every(({ cluster }) => cluster.member.role === 'follower'), 1.5 * MAX_AGE_MS)
    assert.ok(followers.every((one) => fleet.answers(one)))
    assert.ok(fleet.log.join().includes('the rows of an entry of the log cannot be read'))
    assert.deepEqual(fleet.checker.wrong, [])
  }
}

/** What holds on each runtime (instances: The snapshot; What a follower accepts). */
export const SNAPSHOT_SENTENCES: Readonly<Record<string, () => Promise<void>>> = {
  'the snapshots in the store are one, however often another instance took over, once nobody loads those before it any more':
    async () => {
      for (const seed of SEEDS) {
        const fleet = new Fleet(token, seed)
        await begun(fleet)
        for (let change = 0; change < 16; change++) {
          const next = await follower(fleet)
          const { leader } = fleet
          if (leader === null) throw new Error('nobody reads')
          if (change % 2 === 0) fleet.kill(leader)
          else fleet.end(leader)
          await must(fleet, () => next.cluster.member.role === 'leader', MAX_AGE_MS)
          await fleet.pass(3000)
        }
        await fleet.pass(3 * 60_000)
        await must(fleet, () => snapshotsIn(fleet).size === 1 && fleet.store.snapshots.size === 1, 40_000)
        assert.deepEqual([...fleet.store.snapshots.keys()], [...snapshotsIn(fleet)])
        assert.ok(fleet.answers(await follower(fleet)))
        assert.deepEqual(fleet.checker.wrong, [])
      }
    },
  'a snapshot in the store is gone on with by the next leader; of leaders that follow quickly on one another, every second makes one':
    async () => {
      for (const seed of SEEDS) {
        const fleet = new Fleet({ ...token, instances: 6, fullReadEveryMs: 100 * MAX_AGE_MS }, seed)
        await begun(fleet)
        await must(fleet, () => fleet.instances.every((one) => fleet.answers(one)), MAX_AGE_MS)
        const written = (): number => fleet.news['snapshot-written'] ?? 0
        const before = written()
        for (let change = 0; change < 8; change++) {
          const { leader } = fleet
          if (leader === null) throw new Error('nobody reads')
          fleet.end(leader)
          fleet.start()
          await must(fleet, () => fleet.leader !== null, MAX_AGE_MS)
          await fleet.pass(8000)
          assert.ok(fleet.store.snapshots.size <= 3)
        }
        assert.ok(written() - before <= 4)
        assert.deepEqual(fleet.checker.wrong, [])
      }
    },
  'the snapshots in the store are two at most while a new one takes the place of the last, and one half a minute later':
    async () => {
      const fleet = new Fleet({ ...token, fullReadEveryMs: 2 * MAX_AGE_MS }, 1)
      await begun(fleet)
      let most = 0
      for (let at = 0; at < 80; at++) {
        await fleet.pass(5000)
        most = Math.max(most, snapshotsIn(fleet).size)
      }
      assert.ok(most <= 2)
      assert.ok((fleet.news['snapshot-written'] ?? 0) > 5)
    },
  'the snapshots in the store are not begun where there is no room, and that is told once': async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: MAX_AGE_MS }, 1)
    const first = await begun(fleet)
    await fleet.pass(MAX_AGE_MS)
    const undo = override(fleet.store, 'write', () => () => {
      throw new StoreFailure('full', 'the store accepts no more data: OOM')
    })
    await fleet.pass(4 * MAX_AGE_MS)
    assert.ok(snapshotsIn(fleet).size <= 2)
    undo()
    assert.ok(fleet.log.filter((line) => line.includes('snapshot-failed')).length <= 1)
    await must(fleet, () => fleet.answers(first), MAX_AGE_MS)
  },
  'the snapshots in the store are left alone by an instance that leads no more': async () => {
    const fleet = new Fleet(token, 1)
    const first = await begun(fleet)
    const { snapshots: maker, options } = first.cluster.member
    const opening = Session.open(options.store, fleet.time, MAX_AGE_MS, new AbortController().signal)
    await fleet.pass(1000)
    const session = await opening
    fleet.store.snapshots.set('9-1', '1')
    fleet.store.blobs.set('snapshot:9-1:0', Buffer.from('the chunk of the next leader'))
    maker?.end()
    const made = maker?.makeRoom(session)
    await fleet.pass(1000)
    await made
    assert.ok(fleet.store.snapshots.has('9-1') && fleet.store.blobs.has('snapshot:9-1:0'))
  },
  ...Object.fromEntries(
    Object.entries(UNREADABLE).map(([what, body]) => [
      `rows of which one ${what} are a gap: all followers get past it by a new snapshot, and nothing of it is shown`,
      () => unreadable(body),
    ]),
  ),
}
