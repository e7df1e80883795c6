import { describe, expect, it } from 'bun:test'
import { Buffer } from 'node:buffer'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import {
  type LogEntry,
  NO_BODY,
  OtherLogs,
  Signing,
  compareIds,
  decodeEntry,
  encodeEntry,
  isSame,
  logNameOf,
} from './entries.ts'
import { cursorOf } from '../sync/port.ts'

const KEY = 'k'.repeat(32)
const signing = new Signing('0123456789ab', KEY)
const NO_AGES = { details: null, availability: null, audited: null }
const position = { epoch: 3, number: 7, claimId: '00112233445566ff' }

const READ = {
  kind: 'read',
  list: 'events',
  cursor: cursorOf('t7'),
  whole: true,
  served: 2,
  withheld: 1,
  unidentified: [0, 1],
  shrunk: null,
  lost: 0,
  readsPrice: true,
  accepting: false,
  lastError: 'down',
  waiting: false,
  failures: 3,
  nextTryMs: 7000,
  askedMs: 5000,
} as const

describe('an entry of the log (instances: What is on the log)', () => {
  const entries: readonly LogEntry[] = [
    { position, head: { kind: 'claim', instance: 'a', version: '1', newLog: true, after: position }, body: NO_BODY },
    { position, head: { kind: 'claim', instance: 'a', version: '1', newLog: false, after: null }, body: NO_BODY },
    { position, head: { kind: 'rows', updatedAtMs: [1, 1_770_000_000_000] }, body: Buffer.from('x'.repeat(5000)) },
    {
      position,
      head: {
        kind: 'heartbeat',
        instance: 'a',
        ages: { events: NO_AGES, venues: { details: 1, availability: 2, audited: 3 } },
        instances: 2,
        candidates: ['b'],
        versions: ['1'],
        refreshEveryMs: 5000,
        heartbeatMs: 500,
        accepted: ['3-6'],
      },
      body: Buffer.from('nonces'),
    },
    { position, head: READ, body: NO_BODY },
    { position, head: { kind: 'leave', why: 'it stops' }, body: NO_BODY },
  ]
  for (const entry of entries) {
    it(`is read as it was written: ${JSON.stringify(entry.head)}`, () => {
      expect(decodeEntry(encodeEntry(entry, signing), signing)).toEqual(entry)
    })
  }

  it('ignores fields of the head that it does not know, and takes kinds that it does not know for nothing', () => {
    const plain = new Signing('0123456789ab', null)
    const h = JSON.stringify({ kind: 'greeting', claimId: position.claimId, words: ['hello'] })
    expect(decodeEntry({ id: '3-7', h, b: null, s: null }, plain)).toEqual({
      position,
      head: { kind: 'unknown' },
      body: NO_BODY,
    })
  })

  const [first] = entries
  const stored = first === undefined ? null : encodeEntry(first, signing)
  const changed = [
    ['id', { id: '3-8' }],
    ['head', { h: (stored?.h ?? '').replace('"a"', '"b"') }],
    ['body', { b: Buffer.from('other') }],
    ['signature', { s: 'AAAA' }],
    ['missing signature', { s: null }],
  ] as const
  for (const [what, change] of changed) {
    it(`is refused with another ${what}`, () => {
      if (stored === null) throw new Error('there is an entry')
      expect(decodeEntry({ ...stored, ...change }, signing)).toEqual({
        refused: `entry ${'id' in change ? change.id : '3-7'} has a wrong signature`,
      })
    })
  }

  it('is refused where it is not JSON, or stands where nothing can be above it', () => {
    const plain = new Signing('0123456789ab', null)
    const h = JSON.stringify({ kind: 'rows', updatedAtMs: [], claimId: '' })
    expect(decodeEntry({ id: '1-1', h: '{', b: null, s: null }, plain)).toHaveProperty('refused')
    expect(decodeEntry({ id: '1-1', h: 'null', b: null, s: null }, plain)).toHaveProperty('refused')
    expect(decodeEntry({ id: '18446744073709551615-1', h, b: null, s: null }, plain)).toHaveProperty('refused')
    expect(decodeEntry({ id: `${Number.MAX_SAFE_INTEGER}-1`, h, b: null, s: null }, plain)).toHaveProperty('refused')
    expect(decodeEntry({ id: '1-1', h: `${' '.repeat(64 * 1024)}${h}`, b: null, s: null }, plain)).toHaveProperty(
      'refused',
    )
    expect(decodeEntry({ id: '1-1', h, b: Buffer.from([0, 0]), s: null }, plain)).toHaveProperty('refused')
  })
})

describe('a position', () => {
  it('is one of its claimId: an id may come again', () => {
    expect(isSame(position, { ...position })).toBeTrue()
    expect(isSame(position, { ...position, claimId: 'other' })).toBeFalse()
    expect(isSame(position, null)).toBeFalse()
  })

  it('stands by its epoch first', () => {
    expect(compareIds({ epoch: 2, number: 0 }, { epoch: 1, number: 9 })).toBeGreaterThan(0)
    expect(compareIds({ epoch: 1, number: 8 }, { epoch: 1, number: 9 })).toBeLessThan(0)
  })
})

describe('a signature (instances: Security)', () => {
  it('is believed by instances with the key, and in its fingerprint only', () => {
    const other = new Signing('0123456789ab', 'n'.repeat(32))
    const signature = signing.sign('a', 'b')
    expect(new Signing('0123456789ab', KEY).believes(signature, 'a', 'b')).toBeTrue()
    expect(other.believes(signature, 'a', 'b')).toBeFalse()
    expect(new Signing('another fingerprint', KEY).believes(signature, 'a', 'b')).toBeFalse()
    expect(signing.believes(signature, 'ab', '')).toBeFalse()
  })

  it('is not made without a key, and then none is believed', () => {
    const plain = new Signing('0123456789ab', null)
    expect(plain.sign('a')).toBeNull()
    expect(plain.believes(null, 'a')).toBeTrue()
    expect(plain.believes(signing.sign('a'), 'a')).toBeFalse()
    expect(signing.believes(null, 'a')).toBeFalse()
  })
})

describe('the name of a log (instances: Scope, releases)', () => {
  it('is the fingerprint, and with a key 8 digits that tell nothing of the key', () => {
    expect(logNameOf('0123456789ab', null)).toBe('0123456789ab')
    expect(logNameOf('0123456789ab', KEY)).toBe('0123456789ab-6af7f8d7')
    expect(logNameOf('0123456789ab', 'n'.repeat(32))).not.toBe(logNameOf('0123456789ab', KEY))
  })
})

describe('a look for other logs', () => {
  it('comes less and less often while the store does not answer: what it reads there may be too large', async () => {
    const time = new VirtualTime(1)
    const looks: number[] = []
    const connect = () => {
      looks.push(Math.round(time.trueMs / 1000))
      return Promise.reject(new Error('no store'))
    }
    const ended = new AbortController()
    const run = new OtherLogs({ connect, time, heartbeatMs: () => 500, tell: () => {} }).run(ended.signal)
    while (time.trueMs < 700_000) await time.step()
    expect(
      looks
        .slice(1)
        .map((at, index) => at - (looks[index] ?? 0))
        .slice(1, 5),
    ).toEqual([40, 80, 160, 160])
    ended.abort()
    await run
  })
})
