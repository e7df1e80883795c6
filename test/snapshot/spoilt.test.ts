import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'bun:test'
import { emptyLists } from '../../src/snapshot/snapshot-chunks.ts'
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

/** The file with another head, whose sum is right. */
function withHead(bytes: Buffer, change: (head: Record<string, unknown>) => unknown): Buffer {
  const length = bytes.readUInt32BE(0)
  const head: unknown = change(JSON.parse(bytes.toString('utf8', 4, 4 + length)) as Record<string, unknown>)
  const text = Buffer.from(typeof head === 'string' ? head : JSON.stringify(head))
  const prefix = Buffer.alloc(4)
  prefix.writeUInt32BE(text.length)
  return Buffer.concat([prefix, text, hash('sha256', text, 'buffer'), bytes.subarray(4 + length + 32)])
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

describe('a snapshot that cannot be trusted is not used, which is said, and the lists are read in full', () => {
  it('where it is cut short, at each byte of its head and in its rows', async () => {
    const { rig, bytes } = await scene()
    const headEnd = 4 + bytes.readUInt32BE(0) + 32
    for (let length = 0; length < bytes.length; length += length <= headEnd ? 1 : 501) {
      expect(await refusalOf(rig, bytes.subarray(0, length))).toBe('Error: it is cut short')
    }
  })

  it('where any bit of it is another', async () => {
    const { both, before, rig, bytes } = await scene()
    for (let at = 0; at < bytes.length; at += at < 64 ? 1 : 211) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
      expect(await refusalOf(rig, flipped)).toMatch(/^Error: (?:the checksum of |it is cut short|it does not begin)/)
    }
    expect(await saidOf(both, before)).toHaveLength(1)
  })

  it('where it says that its head is larger than any: nothing of it is read', async () => {
    const { rig, bytes } = await scene()
    const large = Buffer.alloc(4, 0xff)
    expect(await refusalOf(rig, Buffer.concat([large, bytes]))).toBe('Error: it does not begin like a snapshot')
  })

  it('where more follows than it says', async () => {
    const { rig, bytes } = await scene()
    expect(await refusalOf(rig, Buffer.concat([bytes, bytes]))).toBe(
      `Error: ${bytes.length} bytes follow after its end`,
    )
  })

  it('where it is of another release, of another fingerprint, or says what no snapshot says', async () => {
    const { rig, bytes } = await scene()
    const readWith = (change: (head: Record<string, unknown>) => unknown): Promise<string> =>
      refusalOf(rig, withHead(bytes, change))
    expect(await readWith((head) => head)).toBe('')
    expect(await readWith((head) => ({ ...head, format: 1 }))).toContain('it is of format 1, and this release reads 4')
    expect(await readWith((head) => ({ ...head, fingerprint: 'aaaaaaaaaaaa' }))).toContain(
      'it belongs to another CRM or mapping',
    )
    for (const wrong of [{ lists: null }, { chunks: [null] }, { chunks: [{ bytes: 1e12 }] }, { writtenAtMs: 'now' }]) {
      expect(await readWith((head) => ({ ...head, ...wrong }))).toContain('its header is incomplete or invalid')
    }
    expect(await readWith(() => 'no JSON')).toContain('SyntaxError')
    expect(await readWith(() => 'null')).toContain('it is of format undefined')
  })

  it('where its rows are not those that it names', async () => {
    const { rig, bytes } = await scene()
    const [cursor, unidentified] = ['0', []]
    const times = { auditedAtMs: null, confirmedAtMs: null }
    const events = { cursor, served: 7, withheld: 1, unidentified, shrunk: null, lost: 0, ...times }
    const miscounted = withHead(bytes, (head) => ({ ...head, lists: { events, venues: events } }))
    expect(await refusalOf(rig, miscounted)).toContain('it does not hold as many events as it says')
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
