import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { openZone } from '../../src/domain/zone.ts'
import { readListQuery } from '../../src/http/list-query.ts'
import { startInProcess } from '../contract/in-process.ts'
import { EVENT, LISTS, VENUE } from '../contract/rows.ts'
import type { Subject } from '../contract/subject.ts'

const name = fc.oneof(
  fc.constantFrom('from', 'to', 'venue', 'tag', 'available', 'limit', 'after', 'Limit', '', '__proto__', 'constructor'),
  fc.string({ maxLength: 8 }),
)
const value = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1',
    '50',
    '200',
    '201',
    '1e9',
    'true',
    'false',
    'null',
    '%',
    '%zz',
    '%ff%fe',
    '+',
    '%00',
  ),
  fc.constantFrom('2026-07-12', '0000-01-01', '9999-12-31', '0001-01-01', '10000-01-01', '2026-07-12T19:30:00+01:00'),
  fc.constantFrom(
    '2036-07-12T19:30:00.1234567Z',
    'Dinner',
    EVENT,
    VENUE,
    `{${VENUE}}`,
    'EABKZI051MQAfgFqxlzuT9a-EvqjSmdh7xiNYuA',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.string({ maxLength: 30 }),
  fc.base64String({ maxLength: 60 }),
)
const query = fc.array(fc.tuple(name, fc.constantFrom('=', '=', '=', '', '=='), value), { maxLength: 6 })

describe('lists under hostile requests', () => {
  let subject: Subject
  beforeAll(async () => {
    subject = await startInProcess({ lists: 'on' }, LISTS)
    await subject.ask('/api/events')
  })
  afterAll(() => subject.stop())

  it('answer 5,000 random queries with 200 or a 400 that says why, never 5xx', async () => {
    const statuses = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom('events', 'venues'), async (pairs, list) => {
        const text = pairs.map((parts) => parts.join('')).join('&')
        const { status, body } = await subject.ask(`/api/${list}?${text}`)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        expect([200, 400]).toContain(status)
        const { detail } = JSON.parse(body) as { readonly detail?: string }
        if (status === 400) expect(detail).toMatch(/^.{10,}\.$/su)
      }),
      { numRuns: 5000 },
    )
    // The test means something only where both come often.
    for (const status of [200, 400]) expect(statuses.get(status)).toBeGreaterThan(100)
  })

  it('refuse what is far too long without looking at it, in a sentence that is short', async () => {
    for (const text of [
      'tag=a&'.repeat(10_000),
      `tag=${'%'.repeat(16_384)}`,
      '&'.repeat(1_000_000),
      `${'x'.repeat(8000)}=1`,
      `after=${'A'.repeat(8000)}`,
    ]) {
      const reply = await subject.ask(`/api/events?${text}`)
      expect(reply.status).toBe(400)
      expect(reply.bytes.length).toBeLessThan(500)
    }
  })

  it('are read in time that grows with the length of the query alone', () => {
    const zone = openZone('Europe/London')
    if (zone === null) throw new Error('no zone')
    const shapes = [
      'tag=a&',
      'venue=x&',
      '&',
      '%',
      '+',
      'tag=%C3%A9&',
      `venue=${VENUE}&`,
      'x',
      '=',
      'tag&',
      'from=2026&',
    ]
    for (const shape of shapes) {
      const text = (length: number): string => shape.repeat(Math.floor(length / shape.length))
      const time = (given: string): number => {
        let best = Infinity
        for (let round = 0; round < 30; round++) {
          const begun = performance.now()
          readListQuery('events', given, zone)
          best = Math.min(best, performance.now() - begun)
        }
        return best
      }
      expect([shape, time(text(4000)) < Math.max(2, time(text(500)) * 40)]).toEqual([shape, true])
    }
  })

  it('answer a position that was forged as what it is: a place in the list', async () => {
    const reply = await subject.ask('/api/events?limit=1')
    const [, after = ''] = /after=([\w-]+)/.exec(reply.body) ?? []
    // Slipped by a character anywhere, cut or lengthened.
    for (let at = 0; at < after.length; at++) {
      const slipped = after.slice(0, at) + (after[at] === 'A' ? 'B' : 'A') + after.slice(at + 1)
      expect([slipped, (await subject.ask(`/api/events?after=${slipped}`)).status]).toEqual([slipped, 400])
    }
    for (const other of [
      after.slice(1),
      `${after}A`,
      `${after}=`,
      `${after}%20`,
      after.toLowerCase(),
      `${after}\u0000`,
    ]) {
      expect((await subject.ask(`/api/events?after=${encodeURIComponent(other)}`)).status).toBe(400)
    }
  })
})
