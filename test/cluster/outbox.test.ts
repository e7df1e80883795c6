import { beforeEach, describe, expect, it } from 'bun:test'
import { Outbox } from '../../src/cluster/own-reading.ts'
import { readRowRecords } from '../../src/records/row-records.ts'
import { systemTime } from '../../src/time/time.ts'
import { guidOf } from '../model/records.ts'
import { put, Rig, tables } from '../snapshot/rig.ts'
import { readEnded } from '../support/read-ended.ts'

const UNUSED_VENUE = guidOf(0x1000_0002)

describe('what a leader has to send', () => {
  let both: ReturnType<typeof tables>
  let rig: Rig
  let outbox: Outbox
  beforeEach(async () => {
    both = tables()
    rig = await new Rig(both).start()
    outbox = new Outbox(rig.replica, {}, systemTime)
    while (outbox.next() !== null);
  })

  it('is venues that come, events, and then venues that go, so that no event is shown without its venue', async () => {
    both.venues.delete(UNUSED_VENUE)
    put(both, 'events', 1, 'changed')
    put(both, 'venues', 1, 'changed')
    await rig.read()
    const { head, body } = outbox.next() ?? {}
    expect(head?.kind).toBe('rows')
    expect([...readRowRecords(body ?? Buffer.alloc(0))].map(({ list, id }) => [list, id])).toEqual([
      ['venues', guidOf(0x1000_0001)],
      ['events', guidOf(1)],
      ['venues', UNUSED_VENUE],
    ])
    await rig.kill()
  })

  it('is no state a second time with the heartbeat, if it was sent meanwhile', async () => {
    outbox.note(readEnded({}))
    outbox.tell('events')
    expect(outbox.next()?.head).toMatchObject({ kind: 'read', list: 'events' })
    outbox.tellWaiting()
    expect(outbox.next()).toBeNull()
    outbox.note(readEnded({}))
    expect(outbox.next()).toBeNull()
    outbox.tellWaiting()
    expect(outbox.next()?.head).toMatchObject({ kind: 'read', list: 'events' })
    await rig.kill()
  })

  it('tells no time of a change with the rows of a later one', async () => {
    put(both, 'events', 1, 'changed')
    await rig.read()
    // The row changed so often, and is sent once.
    outbox.note({ kind: 'changes-published', delaysMs: Array.from({ length: 2500 }, () => 5) })
    const timesOf = (head: ReturnType<Outbox['next']>): number =>
      head?.head.kind === 'rows' ? head.head.updatedAtMs.length : 0
    expect(timesOf(outbox.next())).toBe(1000)
    while (outbox.next() !== null);
    put(both, 'events', 1, 'changed again')
    await rig.read()
    outbox.note({ kind: 'changes-published', delaysMs: [7] })
    expect(timesOf(outbox.next())).toBe(1)
    await rig.kill()
  })
})
