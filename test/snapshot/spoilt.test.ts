import { Buffer } from 'node:buffer'
import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'bun:test'
import { emptyLists } from '../../src/snapshot/snapshot-file.ts'
import { eventOf, guidOf } from '../model/records.ts'
import type { Tables } from './rig.ts'
import { emptyDirectory, Rig, tables, until, written } from './rig.ts'

const DAY_MS = 24 * 3_600_000
const IS_ROOT = process.getuid?.() === 0

/** What a start says of the snapshot; it must have read everything in full all the same. */
async function saidOf(both: Tables, before: Rig, aheadMs = 0): Promise<readonly string[]> {
  for (const table of [both.events, both.venues]) table.reads.splice(0)
  const rig = new Rig(both, { directory: before.directory })
  rig.aheadMs = aheadMs
  await rig.start()
  expect([both.events.reads[0], both.venues.reads[0]]).toEqual(['full', 'full'])
  expect(rig.held).toEqual(before.held)
  await until(() => rig.said.some((said) => /^snapshot-(?:not-)?written/.test(said)))
  await rig.kill()
  return rig.said.filter((said) => said !== 'snapshot-written')
}

/** The file with other lines, whose checksum is right. */
function withLines(bytes: Buffer, change: (lines: readonly string[]) => readonly string[]): Buffer {
  const lines = gunzipSync(bytes).toString('utf8').trimEnd().split('\n')
  return gzipSync(`${change(lines).join('\n')}\n`)
}

/** The file with other fields in its first line, or its last, whose checksum is right. */
function withFields(bytes: Buffer, at: 0 | -1, fields: Readonly<Record<string, unknown>>): Buffer {
  return withLines(bytes, (lines) => {
    const line = JSON.stringify({ ...(JSON.parse(lines.at(at) ?? '') as object), ...fields })
    return lines.with(at, line)
  })
}

/** A snapshot of some rows, its bytes, and a process that may read it. */
async function scene(): Promise<{ both: Tables; before: Rig; bytes: Buffer; rig: Rig }> {
  const both = tables(1200, 3)
  both.events.withhold(guidOf(5))
  const before = await written(both)
  const rig = new Rig(tables(0, 0), { directory: before.directory })
  return { both, before, bytes: readFileSync(before.path), rig }
}

/** What is said of these bytes, '' where they are taken; else nothing of them may stay in the lists. */
async function refusalOf({ file, path, replica }: Rig, bytes: Buffer): Promise<string> {
  const { lists } = replica
  writeFileSync(path, bytes)
  const now = { monotonicMs: 0, wallMs: Date.now() }
  try {
    await file.read(lists, now, new AbortController().signal)
    emptyLists(lists)
    return ''
  } catch (cause) {
    expect([lists.events.size, lists.venues.size]).toEqual([0, 0])
    return String(cause)
  }
}

/** What the bytes unpack to; `null` if they cannot be unpacked. */
function textOf(bytes: Buffer): Buffer | null {
  try {
    return gunzipSync(bytes)
  } catch {
    return null
  }
}

describe('a snapshot that cannot be trusted is not used, which is said, and the lists are read in full', () => {
  it('where it is cut short at any byte, or between any two lines', async () => {
    const { rig, bytes } = await scene()
    const near = (length: number): boolean => length < 64 || length > bytes.length - 64
    for (let length = 0; length < bytes.length; length += near(length) ? 1 : 13) {
      expect(await refusalOf(rig, bytes.subarray(0, length))).toBe('Error: it is cut short')
    }
    for (const count of [0, 1, 2, 600, -1]) {
      const cut = withLines(bytes, (lines) => lines.slice(0, count))
      expect(await refusalOf(rig, cut)).toMatch(/^Error: (?:it is cut short|it is damaged)$/)
    }
  })

  it('where any bit of what it says is another', async () => {
    const { both, before, rig, bytes } = await scene()
    let refusals = 0
    for (let at = 0; at < bytes.length; at += at < 64 ? 1 : 17) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
      // Gzip has bits that say nothing of the content, such as the time in its header.
      if (textOf(flipped)?.equals(gunzipSync(bytes)) === true) continue
      expect(await refusalOf(rig, flipped)).toMatch(/^Error: it (?:is|belongs|does|contains) /)
      refusals++
    }
    expect(refusals).toBeGreaterThan(100)
    expect(await saidOf(both, before)).toHaveLength(1)
  })

  it('where it is no snapshot of this kind, such as one of an earlier release', async () => {
    const { rig } = await scene()
    expect(await refusalOf(rig, Buffer.from('\0\0\x20\0{"format":4}'))).toBe('Error: it is damaged')
    expect(await refusalOf(rig, gzipSync('{}\n'))).toContain('it is of format undefined')
    expect(await refusalOf(rig, gzipSync('no JSON\n'))).toBe('Error: it is damaged')
  })

  it('where a line has no end: no more of it is kept than of the longest', async () => {
    const { rig } = await scene()
    expect(await refusalOf(rig, gzipSync(Buffer.alloc(17 * 1024 * 1024, 'x')))).toBe(
      'Error: one of its lines is too long',
    )
  })

  it('where more follows than it says', async () => {
    const { rig, bytes } = await scene()
    expect(await refusalOf(rig, Buffer.concat([bytes, bytes]))).toBe('Error: more follows after its end')
    expect(await refusalOf(rig, Buffer.concat([bytes, Buffer.from('more')]))).toBe('Error: it is damaged')
  })

  it('where it is of another release, of another fingerprint, or says what no snapshot says', async () => {
    const { rig, bytes } = await scene()
    expect(
      await refusalOf(
        rig,
        withLines(bytes, (lines) => lines),
      ),
    ).toBe('')
    const begunWith = (fields: Readonly<Record<string, unknown>>): Promise<string> =>
      refusalOf(rig, withFields(bytes, 0, fields))
    expect(await begunWith({ format: 1 })).toContain('it is of format 1, and this release reads 5')
    expect(await begunWith({ fingerprint: 'aaaaaaaaaaaa' })).toContain('it is of another release, CRM or mapping')
    expect(await begunWith({ begunAtMs: 'now' })).toBe('Error: it is damaged')
    for (const wrong of [{ lists: null }, { lists: { events: { served: -1 } } }, { writtenAtMs: 'now' }]) {
      expect(await refusalOf(rig, withFields(bytes, -1, wrong))).toBe('Error: it is damaged')
    }
    for (const row of ['[', '[]', '["events","served","x",1,0,0,""]', '["rows","served"]', '["events","served"]']) {
      expect(
        await refusalOf(
          rig,
          withLines(bytes, (lines) => lines.with(7, row)),
        ),
      ).toBe('Error: it is damaged')
    }
  })

  it('where only one of another release, CRM or mapping is there, which is said at the first start alone', async () => {
    const { both, before } = await scene()
    renameSync(before.path, join(before.directory, 'aaaaaaaaaaaa.snapshot'))
    expect(await saidOf(both, before)).toEqual(['snapshot-ignored: it is of another release, CRM or mapping'])
    const after = await new Rig(both, { directory: before.directory }).start()
    await after.kill()
    expect(after.said.filter((said) => said.startsWith('snapshot-ignored'))).toEqual([])
  })

  it('where its rows are not as many as it says', async () => {
    const { rig, bytes } = await scene()
    const fewer = withLines(bytes, (lines) => lines.toSpliced(700, 1))
    expect(await refusalOf(rig, fewer)).toBe('Error: it does not hold as many events as it says')
  })

  it('where it is older than 7 days', async () => {
    const { both, before } = await scene()
    expect(await saidOf(both, before, 7 * DAY_MS + 60_000)).toEqual(['snapshot-ignored: it is older than 7 days'])
  })

  it('where others may write it or its directory, or it is a link or a directory', async () => {
    const { both, before } = await scene()
    for (const mode of [0o620, 0o602]) {
      chmodSync(before.path, mode)
      expect(await saidOf(both, before)).toEqual(['snapshot-ignored: others may write it: chmod go-w'])
    }
    chmodSync(before.path, 0o600)
    for (const mode of [0o770, 0o707]) {
      chmodSync(before.directory, mode)
      expect(await saidOf(both, before)).toEqual([
        'snapshot-ignored: others may write its directory: chmod go-w',
        'snapshot-not-written: others may write its directory: chmod go-w',
      ])
    }
    chmodSync(before.directory, 0o700)
    const elsewhere = join(emptyDirectory(), 'elsewhere')
    const bytes = readFileSync(before.path)
    renameSync(before.path, elsewhere)
    symlinkSync(elsewhere, before.path)
    expect(await saidOf(both, before)).toEqual(['snapshot-ignored: it is a symbolic link'])
    expect(readFileSync(elsewhere).equals(bytes)).toBe(true)
    const other = emptyDirectory()
    mkdirSync(join(other, '0123456789ab.snapshot'))
    const rig = await new Rig(both, { directory: other }).start()
    expect(rig.said[0]).toBe('snapshot-ignored: it is not a file')
    await rig.kill()
  })

  it.skipIf(!IS_ROOT)('where it or its directory belongs to another user', async () => {
    const { both, before } = await scene()
    chownSync(before.path, 65_534, 65_534)
    expect(await saidOf(both, before)).toEqual(['snapshot-ignored: it belongs to another user (65534, not 0)'])
    chownSync(before.directory, 65_534, 65_534)
    expect(await saidOf(both, before)).toEqual([
      'snapshot-ignored: its directory belongs to another user (65534, not 0)',
      'snapshot-not-written: its directory belongs to another user (65534, not 0)',
    ])
  })

  it('where reading it takes too long; what the lists hold by then stays', async () => {
    const { before, both } = await scene()
    const giveUp = new AbortController()
    const rig: Rig = new Rig(both, {
      directory: before.directory,
      onPause() {
        giveUp.abort()
        const { events } = rig.replica.lists
        if (events.find(guidOf(1)) === null) events.serve(events.insert(guidOf(1)), eventOf(guidOf(1)))
      },
    })
    const read = rig.file.read(rig.replica.lists, { monotonicMs: 0, wallMs: Date.now() }, giveUp.signal)
    expect(await read.catch(String)).toBe('Error: reading it takes too long')
    expect(rig.replica.lists.events.size).toBe(1)
  })

  it('where it contains more than limits.memory allows, as long as nothing is amiss otherwise', async () => {
    const { before } = await scene()
    const rig = new Rig(tables(0, 0), { directory: before.directory, memoryBytes: 200_000 })
    await rig.keeper.load()
    expect(rig.said).toEqual(['snapshot-ignored: it contains more than limits.memory allows'])
    expect(rig.replica.events.list.size).toBe(0)
  })
})
