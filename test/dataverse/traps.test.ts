import { beforeEach, describe, expect, it } from 'bun:test'
import type { ColumnSource } from '../../src/config/crm/sources.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { Attempt } from '../../src/sync/poller.ts'
import { containing } from './containing.ts'
import { digits, eventValues, fill, idOf, openEnvironment } from './environment.ts'
import { eventIn, Fixture, load } from './fixture.ts'
import { json, refusal } from './reply.ts'
import type { Rig } from './rig.ts'

const environment = new Fixture()
let rig: Rig

beforeEach(async () => {
  rig = await environment.rig()
})

const event = (number: number): EventRecord | null => eventIn(rig, number)
const events = (): Promise<Attempt> => rig.replica.events.refresh.attempt()
const served = (): number => rig.replica.events.list.served

async function filled(count = 20): Promise<void> {
  fill(environment, count)
  await load(rig)
  expect(served()).toBe(count)
}

function failureOf(attempt: Attempt): {
  readonly kind: string
  readonly message: string
  readonly retryAfterMs: number | null
} {
  if (attempt.ok) throw new Error('it succeeded')
  return attempt.failure
}

/** A time limit that is waited for: what is answered within it is, on a machine that stands still for a while too. */
const WAITED_MS = 4000

describe('what the connector must survive (DATAVERSE §9)', () => {
  it('pages of an opaque absolute link, which comes back byte by byte', async () => {
    // The stand-in refuses a link that was encoded again, and its links hold what every encoder changes.
    await filled(3500)
    const pages = environment.standIn.reads.filter(({ path }) => path.includes('skiptoken'))
    expect(pages.length).toBe(3)
    expect(pages[0]?.path).toContain("d'")
  })

  it('a token that ends in the middle of a read: it is asked for once more', async () => {
    fill(environment, 2500)
    environment.standIn.trap('skiptoken', { kind: 'reply', reply: { status: 401, headers: {}, body: '' } })
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(2500)
    expect(environment.standIn.directory.asked).toBe(2)
  })

  it('a token that is refused again and again: the read fails as refused', async () => {
    await filled()
    environment.standIn.trap('deltatoken', { kind: 'reply', reply: { status: 401, headers: {}, body: '' } }, 2)
    expect(failureOf(await events()).kind).toBe('refused')
    expect(served()).toBe(20)
    expect(await events()).toEqual({ ok: true })
  })

  for (const [code, limit] of [
    ['0x80072322', 'fewer requests'],
    ['0x80072321', 'less execution time'],
    ['0x80072326', 'fewer requests at once'],
  ] as const) {
    it(`429 for ${limit}: all requests of the environment rest as long as it says`, async () => {
      await filled()
      const asked = environment.standIn.reads.length
      environment.standIn.trap('events', {
        kind: 'reply',
        reply: refusal(429, code, 'exceeded', { 'retry-after': '7' }),
      })
      const failure = failureOf(await events())
      expect(failure).toMatchObject({ kind: 'throttled', retryAfterMs: 7000 })
      expect(failure.message).toContain(limit)
      const other = failureOf(await rig.replica.venues.refresh.attempt())
      expect(other.kind).toBe('throttled')
      expect(other.retryAfterMs).toBeGreaterThan(6000)
      expect(environment.standIn.reads.length).toBe(asked + 1)
      expect(served()).toBe(20)
    })
  }

  for (const [which, aheadMs] of [
    ['ahead', 3_600_000],
    ['behind', -3_600_000],
  ] as const) {
    it(`429 until a date, by a clock that is an hour ${which}: it counts from the Date of the same answer`, async () => {
      await filled()
      const now = Date.now() + aheadMs
      const headers = { date: new Date(now).toUTCString(), 'retry-after': new Date(now + 7000).toUTCString() }
      environment.standIn.trap('events', { kind: 'reply', reply: refusal(429, '', 'exceeded', headers) })
      expect(failureOf(await events())).toMatchObject({ kind: 'throttled', retryAfterMs: 7000 })
    })
  }

  it('a limit told by its code alone, as 503: throttled like any other', async () => {
    await filled()
    environment.standIn.trap('events', {
      kind: 'reply',
      reply: refusal(503, '-2147015903', '', { 'retry-after': '7' }),
    })
    const failure = failureOf(await events())
    expect(failure).toMatchObject({ kind: 'throttled', retryAfterMs: 7000 })
    expect(failure.message).toContain('less execution time (503)')
  })

  it('503 between two pages: the page is asked for again', async () => {
    fill(environment, 2500)
    environment.standIn.trap('skiptoken', { kind: 'reply', reply: refusal(503, '', 'busy', { 'retry-after': '0' }) }, 2)
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(2500)
  })

  it('a dropped connection between two pages: one retry, on a fresh one', async () => {
    fill(environment, 2500)
    environment.standIn.trap('skiptoken', { kind: 'drop' })
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(2500)
    const pages = environment.standIn.reads.filter(({ path }) => path.includes('events'))
    expect(pages.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'keep-alive', 'close', 'keep-alive'])
  })

  it('a connection that hangs: one retry after the time limit, not an outage', async () => {
    rig = await environment.rig({ timeoutMs: WAITED_MS })
    await filled()
    environment.standIn.trap('deltatoken', { kind: 'hang' })
    expect(await events()).toEqual({ ok: true })
  })

  for (const [code, status, message] of [
    ['0x80044352', 400, ''],
    ['-2147204270', 500, ''],
    ['', 410, ''],
    ['', 400, 'Version stamp associated with the client has expired. Please perform a full sync.'],
  ] as const) {
    it(`a link that is refused by ${code || status} ${message.slice(0, 13)}: a full read follows at once`, async () => {
      await filled()
      environment.events.remove(idOf(3))
      environment.standIn.trap('deltatoken', { kind: 'reply', reply: refusal(status, code, message) })
      expect(await events()).toEqual({ ok: true })
      expect(event(3)).toBeNull()
      expect(served()).toBe(19)
    })
  }

  it('the whole set in answer to a request for changes: treated as a full read', async () => {
    await filled()
    environment.standIn.query.faults.wholeSetOnDelta = true
    environment.events.remove(idOf(4))
    environment.events.change(idOf(5), { msevtmgt_name: 'New' })
    expect(await events()).toEqual({ ok: true })
    expect([served(), event(4), event(5)?.Name]).toEqual([19, null, 'New'])
  })

  it('the whole set and nothing in it: nothing is unpublished for that answer alone', async () => {
    await filled(8)
    const context = `${environment.standIn.origin}/api/data/v9.2/$metadata#msevtmgt_events(msevtmgt_name)`
    environment.standIn.trap('deltatoken', { kind: 'reply', reply: json({ '@odata.context': context, value: [] }) })
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(8)
  })

  it('a deleted entry for an id that was never seen', async () => {
    await filled()
    environment.standIn.query.faults.deletedStrangers = [idOf(0xdead)]
    environment.events.remove(idOf(6))
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(19)
  })

  it('a row that arrives twice: the later counts', async () => {
    fill(environment, 3)
    environment.standIn.query.faults.repeated = { msevtmgt_name: 'The later' }
    expect(await events()).toEqual({ ok: true })
    expect([served(), event(1)?.Name]).toEqual([3, 'The later'])
  })

  it('no value on a full read: a failure', async () => {
    fill(environment, 3)
    environment.standIn.query.faults.noValue = true
    expect(failureOf(await events()).kind).toBe('broken')
  })

  it('no value in answer to a request for changes: no change, and its link is taken', async () => {
    await filled()
    environment.standIn.query.faults.noValue = true
    expect(await events()).toEqual({ ok: true })
    environment.standIn.query.faults.noValue = false
    environment.standIn.query.faults.emptyJsonWithoutChanges = true
    expect(await events()).toEqual({ ok: true })
    environment.events.remove(idOf(1))
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(19)
  })

  it('an error with the status of a success is no answer without changes', async () => {
    await filled()
    environment.standIn.trap('deltatoken', { kind: 'reply', reply: json({ error: { code: '0x1', message: 'no' } }) })
    expect(failureOf(await events()).kind).toBe('broken')
  })

  it('a link to another origin: refused, and the token never goes there', async () => {
    const other = await openEnvironment()
    fill(environment, 2500)
    environment.standIn.query.faults.foreignOrigin = other.standIn.origin
    expect(failureOf(await events())).toMatchObject({
      kind: 'broken',
      message: containing('another host'),
    })
    expect(other.standIn.asked.length).toBe(0)
    other.standIn.close()
  })

  it('pages whose links go round: given up, however many they are', async () => {
    const { standIn } = environment
    fill(environment, 1500)
    const around = 7
    const link = (number: number): string => `${standIn.origin}/api/data/v9.2/msevtmgt_events?$skiptoken=${number}`
    for (let number = 0; number < around; number++) {
      const reply = json({ value: [], '@odata.nextLink': link((number + 1) % around) })
      standIn.trap(`skiptoken=${number}`, { kind: 'reply', reply }, Number.POSITIVE_INFINITY)
    }
    standIn.trap('skiptoken=%3C', { kind: 'reply', reply: json({ value: [], '@odata.nextLink': link(0) }) })
    const { kind, message } = failureOf(await events())
    expect(kind).toBe('broken')
    expect(message).toContain('the pages have no end')
    expect(standIn.reads.length).toBeLessThan(4 * around)
  })

  it('a redirect: not followed', async () => {
    await filled()
    const headers = { location: 'https://login.example/' }
    environment.standIn.trap('deltatoken', { kind: 'reply', reply: { status: 302, headers, body: '' } })
    expect(failureOf(await events())).toMatchObject({ kind: 'broken', message: containing('redirect') })
  })

  it('a body that is HTML', async () => {
    await filled()
    const reply = { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Sign in</p>' }
    environment.standIn.trap('deltatoken', { kind: 'reply', reply })
    expect(failureOf(await events())).toMatchObject({ kind: 'broken', message: containing('HTML') })
    expect(served()).toBe(20)
  })

  it('a body that never ends: the time limit counts for all of it', async () => {
    rig = await environment.rig({ timeoutMs: WAITED_MS })
    await filled()
    environment.standIn.trap('deltatoken', { kind: 'endless' }, 2)
    expect(failureOf(await events()).kind).toBe('timeout')
  })

  it('a body that is larger than any page', async () => {
    await filled()
    const reply = json({ value: [], padding: ' '.repeat(70_000_000) })
    environment.standIn.trap('deltatoken', { kind: 'reply', reply })
    const { kind, message } = failureOf(await events())
    expect(kind).toBe('too-large')
    expect(message).toContain('is too large')
  })

  it('a body that is cut short, by the connection or by its server', async () => {
    fill(environment, 30)
    environment.standIn.trap('events', { kind: 'cut' }, 2)
    expect(failureOf(await events()).kind).toBe('unreachable')
    environment.standIn.trap('events', { kind: 'truncated' })
    expect(failureOf(await events()).kind).toBe('broken')
    expect(served()).toBe(0)
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(30)
  })

  it('a full read that breaks off unpublishes nothing', async () => {
    await filled(1500)
    environment.events.oldestKnown = Number.POSITIVE_INFINITY
    environment.standIn.trap(/skiptoken/, { kind: 'truncated' })
    expect(failureOf(await events()).kind).toBe('broken')
    expect(served()).toBe(1500)
  })

  it('rights narrowed to user level look like a short list: the shrink guard holds', async () => {
    await filled(40)
    environment.events.visible = new Set([idOf(1), idOf(2)])
    environment.events.oldestKnown = Number.POSITIVE_INFINITY
    expect(failureOf(await events()).kind).toBe('shrunk')
    expect(served()).toBe(40)
  })

  it('rights narrowed while a list is read, half of it: nothing goes unless a second reading agrees', async () => {
    const { standIn, events: table } = environment
    standIn.query.largestPage = 10
    await filled(40)
    table.oldestKnown = Number.POSITIVE_INFINITY
    const firstHalf = new Set(Array.from({ length: 20 }, (_, index) => idOf(index + 1)))
    let pages = 0
    standIn.onAsked = (path) => {
      if (path.includes('skiptoken')) table.visible = ++pages === 1 ? firstHalf : null
    }
    await events()
    expect(served()).toBe(40)
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(40)
    // Where it stays so, it is believed: half is not more than half.
    standIn.onAsked = () => {}
    table.visible = firstHalf
    expect(await events()).toEqual({ ok: true })
    expect(served()).toBe(20)
  })

  it('prices with trailing zeros', async () => {
    rig = await environment.rig({
      settings: { events: { from: 'msevtmgt_events', fields: { Price: column('cr5_price') } } },
    })
    environment.events.put(idOf(1), eventValues(1, { cr5_price: digits('20000.0000') }))
    environment.events.put(idOf(2), eventValues(2, { cr5_price: digits('12.5000') }))
    expect(await events()).toEqual({ ok: true })
    expect([event(1)?.Price, event(2)?.Price].map(String)).toEqual(['20000.0000', '12.5000'])
  })

  it('wall times in another zone than the site’s, whatever Z stands behind them', async () => {
    const eastern = { msevtmgt_eventtimezone: 35, msevtmgt_eventtimezonename: 'Eastern Standard Time' }
    environment.events.put(idOf(1), eventValues(1, eastern))
    // The name says nothing: the code counts.
    environment.events.put(
      idOf(2),
      eventValues(2, { ...eastern, msevtmgt_eventtimezonename: '(GMT-05:00) Eastern Time (US & Canada)' }),
    )
    environment.events.put(idOf(3), eventValues(3, { ...eastern, msevtmgt_eventtimezonename: null }))
    environment.events.put(idOf(4), eventValues(4, { msevtmgt_eventtimezonename: 'America/New_York' }))
    environment.events.put(
      idOf(5),
      eventValues(5, { msevtmgt_eventtimezonename: 'Nowhere', msevtmgt_eventtimezone: 1234 }),
    )
    expect(await events()).toEqual({ ok: true })
    // 19:30 in New York is half past midnight in London.
    const starts = [1, 2, 3, 4, 5].map((number) => String(event(number)?.Start ?? null))
    const expected = '2026-07-13T00:30:00+01:00'
    expect(starts).toEqual([expected, expected, expected, expected, 'null'])
    expect(
      environment.standIn.reads.filter(({ path }) => path.includes('timezone') && !path.includes('events')).length,
    ).toBe(1)
  })

  it('template rows, drafts, cancelled and inactive ones are not shown', async () => {
    environment.events.put(idOf(1), eventValues(1, { msevtmgt_istemplate: 100_000_001 }))
    environment.events.put(idOf(2), eventValues(2, { msevtmgt_publishstatus: 100_000_000 }))
    environment.events.put(idOf(3), eventValues(3, { msevtmgt_publishstatus: 100_000_004 }))
    environment.events.put(idOf(4), eventValues(4, { statecode: 1 }))
    environment.events.put(idOf(5), eventValues(5, { msevtmgt_publishstatus: null }))
    environment.events.put(idOf(6), eventValues(6))
    expect(await events()).toEqual({ ok: true })
    expect([served(), event(6)?.Name]).toEqual([1, 'Event 6'])
  })

  it('a null venue', async () => {
    environment.events.put(idOf(1), eventValues(1, { _msevtmgt_primaryvenue_value: null }))
    expect(await events()).toEqual({ ok: true })
    expect(String(event(1)?.VenueId)).toBe('00000000-0000-0000-0000-000000000000')
  })

  it('more registrations than places: none is available, and never less', async () => {
    environment.events.put(idOf(1), eventValues(1, { msevtmgt_registrationcount: 130 }))
    environment.events.put(
      idOf(2),
      eventValues(2, { msevtmgt_registrationcount: null, msevtmgt_maximumeventcapacity: null }),
    )
    expect(await events()).toEqual({ ok: true })
    expect([event(1)?.TicketsAvailable, event(2)?.TicketsAvailable, event(2)?.TicketCapacity]).toEqual([0, 0, 0])
  })
})

function column(name: string): ColumnSource {
  return { kind: 'column', column: name, whenBlank: null, label: false }
}
