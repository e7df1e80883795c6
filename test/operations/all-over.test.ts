import { describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations, sampleOf } from '../support/operations-client.ts'

interface Told {
  readonly snapshotError: string | null
  readonly snapshot: object | null
  readonly lists: { readonly events: { readonly allOverSince: string | null }; readonly venues: object }
}

function event(index: number, year: number): object {
  const Id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  return { Id, Start: `${year}-07-12T19:30:00Z`, Finish: `${year}-07-12T21:30:00Z`, ShowOnWeb: true }
}

async function askedOf(operations: string | null) {
  const status = JSON.parse((await askOperations(`${operations ?? ''}status`))?.text ?? '') as Told
  const metrics = (await askOperations(`${operations ?? ''}metrics`))?.text ?? ''
  return { status, metrics }
}

describe.each(BOTH_RUNTIMES)('what an operator is told, on %s', (runtime) => {
  it("of last year's export: the log once, /status and a metric, until an event is not over", async () => {
    const freshness = { maxAge: '10s', refreshEvery: '100ms', shrinkGuard: 'off' }
    const lists = { events: JSON.stringify([event(1, 2019), event(2, 2020)]), venues: '[]' }
    const directory = new FilesDirectory({ operations: { port: 0 }, freshness }, lists)
    const { child, listening } = await serve(runtime, directory.configuration)
    const now = (): ReturnType<typeof askedOf> => askedOf(listening.operations)
    const line = await child.line((text) => text.includes('"all-over"'))
    expect(JSON.parse(line ?? '')).toMatchObject({
      level: 'warn',
      message:
        "all 2 events are over: the last one ended at 2020-07-12T21:30:00.000Z. Check the export, and this machine's clock",
    })
    const over = await now()
    expect(over.status.lists.events.allOverSince).toBe('2020-07-12T21:30:00.000Z')
    expect(over.status.lists.venues).not.toHaveProperty('allOverSince')
    expect(sampleOf(over.metrics, 'marquee_events_all_over')).toBe(1)
    directory.write('events', JSON.stringify([event(1, 2019), event(2, 2020), event(3, 2036)]))
    const on = await eventually(now, ({ status }) => status.lists.events.allOverSince === null)
    expect(sampleOf(on.metrics, 'marquee_events_all_over')).toBe(0)
    directory.write('events', '[]')
    await eventually(now, ({ metrics }) => sampleOf(metrics, 'marquee_records{list="events",state="served"}') === 0)
    expect((await now()).status.lists.events.allOverSince).toBeNull()
    expect(child.stdout.split('"all-over"').length).toBe(2)
    await child.stop()
    directory.remove()
  })
})

const disk = mkdtempSync(join(tmpdir(), 'marquee-full-'))
const canMount = spawnSync('sh', ['-c', `mount -t tmpfs -o size=64k,mode=700 marquee-test ${disk}`]).status === 0
if (canMount) spawnSync('sh', ['-c', `umount -l ${disk}`])
else console.warn('A file system cannot be mounted here: a snapshot on a full one is not tested.')
rmSync(disk, { recursive: true })

describe.each(BOTH_RUNTIMES)('what an operator is told of a full disk, on %s', (runtime) => {
  it.if(canMount)('/status names the reason, a metric counts, and the log says what the next start does', async () => {
    const full = mkdtempSync(join(tmpdir(), 'marquee-full-'))
    spawnSync('sh', ['-c', `mount -t tmpfs -o size=64k,mode=700 marquee-test ${full}`])
    const rows = Array.from({ length: 20 }, (_, index) => event(index + 1, 2036))
    const lists = { events: JSON.stringify(rows), venues: '[]' }
    const snapshot = { directory: join(full, 'snapshot') }
    const directory = new FilesDirectory({ operations: { port: 0 }, snapshot }, lists)
    try {
      const first = await serve(runtime, directory.configuration)
      await first.child.line((text) => text.includes('"snapshot-written"'))
      const well = await askedOf(first.listening.operations)
      expect([well.status.snapshotError, sampleOf(well.metrics, 'marquee_snapshot_failing')]).toEqual([null, 0])
      await first.child.stop()
      expect(() => writeFileSync(join(full, 'other'), Buffer.alloc(1_000_000))).toThrow('ENOSPC')
      const { child, listening } = await serve(runtime, directory.configuration)
      // That the shrink guard holds a list is written at once.
      directory.write('events', JSON.stringify([event(1, 2036)]))
      const line = await child.line((text) => text.includes('"snapshot-not-written"'))
      expect(line).toMatch(
        /the snapshot cannot be written: the disk is full\. The next start continues from the one that is \d+ s old"/,
      )
      const { status, metrics } = await askedOf(listening.operations)
      expect(status.snapshotError).toBe('the disk is full')
      expect(status.snapshot).not.toBeNull()
      expect(sampleOf(metrics, 'marquee_snapshot_failing')).toBe(1)
      await child.stop()
    } finally {
      spawnSync('sh', ['-c', `umount -l ${full}`])
      rmSync(full, { recursive: true })
      directory.remove()
    }
  })
})
