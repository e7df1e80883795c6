import { afterEach, describe, expect, it, setSystemTime } from 'bun:test'
import { lookup } from 'node:dns/promises'
import { hostname } from 'node:os'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import { eventually } from '../../test/support/eventually.ts'
import { ChangeFeed } from '../changes/change-feed.ts'
import type { WebhookSettings } from '../config/configuration.ts'
import { trustingHttpClient } from '../crm/web/http-client.ts'
import { LISTS } from '../domain/field.ts'
import { isPrivateAddress } from '../domain/host.ts'
import { IN_THE_FILE, Secret } from '../domain/secret.ts'
import type { Observation } from '../observe/observation.ts'
import { ListMaker } from '../records/row-records.ts'
import { openHttpClient } from '../runtime/outgoing.ts'
import { Webhooks } from './webhooks.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface Taken {
  readonly id: string
  readonly headers: Record<string, string>
  readonly text: string
}

interface Body {
  readonly type: string
  readonly data: { readonly Items: readonly { readonly Id: string; readonly State: string }[]; readonly More: boolean }
}

/** A real HTTP server that keeps what it gets, and answers as the test says. */
class Receiver {
  readonly taken: Taken[] = []
  answer: () => Response | Promise<Response> = () => new Response()
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const headers = Object.fromEntries(request.headers)
      this.taken.push({ id: headers['webhook-id'] ?? '', headers, text: await request.text() })
      return this.answer()
    },
  })

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/build_hooks/private-path?token=private-query`
  }

  get bodies(): readonly Body[] {
    return this.taken.map(({ text }) => JSON.parse(text) as Body)
  }

  stop(): void {
    void this.#server.stop(true)
  }
}

const receivers: Receiver[] = []
afterEach(() => {
  for (const receiver of receivers.splice(0)) receiver.stop()
})

function newReceiver(): Receiver {
  const receiver = new Receiver()
  receivers.push(receiver)
  return receiver
}

function settingsOf(url: string, more: Partial<WebhookSettings> = {}): WebhookSettings {
  return {
    url: new Secret(url, IN_THE_FILE),
    secret: new Secret(SECRET, IN_THE_FILE),
    on: LISTS,
    everyMs: 5 * MINUTE_MS,
    body: 'changes',
    ...more,
  }
}

/** Webhooks of lists in memory, with a clock that the test moves and an HTTP client that is real. */
function scene(settings: readonly WebhookSettings[], mayCall: () => boolean = () => true) {
  const time = new VirtualTime(1)
  const lists = new ListMaker(formatter).make()
  const feed = new ChangeFeed(() => lists, time, '')
  const observed: Observation[] = []
  const web = trustingHttpClient(openHttpClient, null, { configured: null, env: {} })
  const sent = { calls: 0, open: 0 }
  const counted: typeof web = {
    ...web,
    send(request) {
      sent.calls++
      sent.open++
      return web.send(request).finally(() => sent.open--)
    },
  }
  const observe = (one: Observation): void => void observed.push(one)
  const webhooks = new Webhooks({ feed, formatter, web: counted, time, observe, mayCall }, settings)
  webhooks.start()
  const serve = (number: number, name: string): void => {
    const id = guidOf(number)
    lists.events.serve(lists.events.find(id) ?? lists.events.insert(id), eventOf(id, { Name: name }))
  }
  /** Lets virtual time pass, and real calls end: a look starts at each second. */
  const pass = async (ms: number): Promise<void> => {
    const untilMs = time.trueMs + ms
    while (time.trueMs < untilMs) {
      await time.pass(Math.min(1000, untilMs - time.trueMs))
      while (sent.open > 0 && !isStuck.now) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await time.pass(0)
  }
  /** Whether a receiver does not answer, so that only time ends the call. */
  const isStuck = { now: false }
  return { time, lists, feed, webhooks, observed, sent, serve, pass, isStuck }
}

/** Checks a call by the library of Standard Webhooks, which accepts it for five minutes from its timestamp. */
function verify(time: VirtualTime, headers: Record<string, string>, text: string, secret = SECRET): void {
  const atMs = Number(headers['webhook-timestamp']) * 1000
  expect(atMs).toBeLessThanOrEqual(time.peek().wallMs)
  setSystemTime(new Date(atMs))
  try {
    new StandardWebhook(secret).verify(text, headers)
  } finally {
    setSystemTime()
  }
}

function said(observed: readonly Observation[]): readonly string[] {
  return observed.flatMap((one) => (one.kind === 'webhook-changed' ? [one.what] : [one.kind]))
}

/** Whether the name of this machine leads to an address of its own network. */
const isHere = await lookup(hostname()).then(
  ({ address }) => isPrivateAddress(address),
  () => false,
)

describe('a webhook', () => {
  it('first says to read the lists, and then what has changed, signed as Standard Webhooks say', async () => {
    const receiver = newReceiver()
    const { lists, serve, pass, feed, time } = scene([settingsOf(receiver.url)])
    await pass(2000)
    serve(1, 'A')
    lists.venues.serve(lists.venues.insert(guidOf(2)), venueOf(guidOf(2), 'B'))
    await pass(5 * MINUTE_MS)
    expect(receiver.bodies.map(({ type }) => type)).toEqual(['reset', 'changes'])
    expect(receiver.bodies[1]?.data).toEqual({
      Items: [
        { Kind: 'venue', Id: guidOf(2), State: 'updated', Href: `~/venues/${guidOf(2)}` },
        { Kind: 'event', Id: guidOf(1), State: 'updated', Href: `~/events/${guidOf(1)}` },
      ],
      Next: `~/changes?since=${feed.now}`,
      More: false,
    } as never)
    for (const { headers, text } of receiver.taken) {
      expect(headers['content-type']).toBe('application/json')
      expect(headers['user-agent']).toBe('Marquee')
      verify(time, headers, text)
      expect(() => verify(time, headers, text, OTHER_SECRET)).toThrow('No matching signature found')
    }
    expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(2)
  })

  it('is called at most once in its time, with all that has changed: 100 changes a second', async () => {
    const receiver = newReceiver()
    const { serve, pass, feed } = scene([settingsOf(receiver.url)])
    await pass(2000)
    let position = feed.now
    const known = new Set<string>()
    for (let second = 0; second < 900; second++) {
      for (let one = 0; one < 100; one++) serve(second * 100 + one, 'A')
      await pass(1000)
    }
    await pass(5 * MINUTE_MS)
    expect(receiver.taken.length).toBeLessThanOrEqual(1 + 4)
    // What does not fit on a page is asked for.
    for (let page = feed.since(position); page !== null; page = page.more ? feed.since(page.next) : null) {
      for (const { id } of page.changes) known.add(id)
      position = page.next
    }
    expect(known.size).toBe(90_000)
    expect(receiver.bodies.at(-1)?.data.More).toBe(true)
    expect(receiver.bodies.at(-1)?.data.Items).toHaveLength(1000)
  })

  it('is not called without a change, nor for one of a list that it is not told of', async () => {
    const receiver = newReceiver()
    const { lists, serve, pass } = scene([settingsOf(receiver.url, { on: ['venues'] })])
    await pass(2000)
    for (let number = 0; number < 3000; number++) serve(number, 'A')
    await pass(HOUR_MS)
    expect(receiver.taken).toHaveLength(1)
    lists.venues.serve(lists.venues.insert(guidOf(9)), venueOf(guidOf(9), 'B'))
    await pass(2000)
    expect(receiver.bodies[1]?.data.Items.map(({ Id }) => Id)).toEqual([guidOf(9)])
  })

  it('sends nothing in the body for build hooks, and signs that, too', async () => {
    const receiver = newReceiver()
    const { pass, time } = scene([settingsOf(receiver.url, { body: 'empty' })])
    await pass(2000)
    const [taken] = receiver.taken
    expect(taken?.text).toBe('')
    expect(taken?.headers['content-length']).toBe('0')
    expect(taken?.headers['content-type']).toBeUndefined()
    verify(time, taken?.headers ?? {}, '')
    const unsigned = newReceiver()
    await scene([settingsOf(unsigned.url, { body: 'empty', secret: null })]).pass(2000)
    expect(Object.keys(unsigned.taken[0]?.headers ?? {})).not.toContain('webhook-signature')
  })

  it('is told again what it did not take, with the same id, and with later changes under another', async () => {
    const receiver = newReceiver()
    const { serve, pass, observed } = scene([settingsOf(receiver.url)])
    await pass(2000)
    receiver.answer = () => new Response(null, { status: 500 })
    serve(1, 'A')
    await pass(6 * MINUTE_MS)
    const tries = receiver.taken.slice(1)
    expect(tries.length).toBeGreaterThan(2)
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1)
    serve(2, 'B')
    receiver.answer = () => new Response()
    await pass(10 * MINUTE_MS)
    expect(receiver.bodies.at(-1)?.data.Items.map(({ Id }) => Id)).toEqual([guidOf(1), guidOf(2)])
    expect(receiver.taken.at(-1)?.id).not.toBe(tries[0]?.id)
    expect(said(observed)).toEqual(['failing', 'recovered'])
  })

  it('is tried again after 10, 20 and 40 seconds, give or take a tenth', async () => {
    const receiver = newReceiver()
    receiver.answer = () => new Response(null, { status: 500 })
    const { pass } = scene([settingsOf(receiver.url)])
    await pass(1000)
    const counts: number[] = []
    // A look starts at each second, so a call may come up to a second after it is due.
    for (const ms of [8000, 4000, 14_000, 8000, 28_000, 16_000]) {
      counts.push(receiver.taken.length)
      await pass(ms)
    }
    expect([...counts, receiver.taken.length]).toEqual([1, 1, 2, 2, 3, 3, 4])
  })

  it('is tried ever more rarely for a day, which the log then says, and once an hour from then on', async () => {
    const receiver = newReceiver()
    const { webhooks, serve, pass, observed } = scene([settingsOf(receiver.url)])
    await pass(2000)
    receiver.answer = () => new Response('x', { status: 500 })
    serve(1, 'A')
    await pass(23 * HOUR_MS)
    expect(said(observed)).toEqual(['failing'])
    expect(receiver.taken.length).toBeLessThan(40)
    await pass(2 * HOUR_MS)
    expect(said(observed)).toEqual(['failing', 'failed-for-a-day'])
    const before = receiver.taken.length
    await pass(24 * HOUR_MS)
    expect(receiver.taken.length - before).toBeWithin(20, 28)
    expect(said(observed)).toHaveLength(2)
    const [status] = webhooks.status()
    expect([status?.lastError, status?.isGone]).toEqual([`${new URL(receiver.url).host} answered with 500`, false])
    receiver.answer = () => new Response()
    await pass(2 * HOUR_MS)
    expect(receiver.bodies.at(-1)?.data.Items.map(({ Id }) => Id)).toEqual([guidOf(1)])
    expect(webhooks.status()[0]).toMatchObject({ failingSince: null, lastError: null })
  })

  it('says to read the lists if its position was forgotten while the receiver was away', async () => {
    const receiver = newReceiver()
    const { lists, serve, pass } = scene([settingsOf(receiver.url)])
    serve(1, 'A')
    await pass(2000)
    receiver.answer = () => new Response(null, { status: 500 })
    const row = lists.events.find(guidOf(1))
    if (row !== null) lists.events.remove(row)
    await pass(8 * 24 * HOUR_MS)
    receiver.answer = () => new Response()
    await pass(2 * HOUR_MS)
    expect(receiver.bodies.map(({ type }) => type).at(-1)).toBe('reset')
  }, 60_000)

  it('waits as long as Retry-After says', async () => {
    const receiver = newReceiver()
    const { pass } = scene([settingsOf(receiver.url)])
    receiver.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '1800' } })
    await pass(29 * MINUTE_MS)
    expect(receiver.taken).toHaveLength(1)
    receiver.answer = () => new Response()
    await pass(2 * MINUTE_MS)
    expect(receiver.taken).toHaveLength(2)
  })

  it('follows no redirect', async () => {
    const [receiver, other] = [newReceiver(), newReceiver()]
    receiver.answer = () => Response.redirect(other.url, 301)
    const { webhooks, pass } = scene([settingsOf(receiver.url)])
    await pass(MINUTE_MS)
    expect(receiver.taken.length).toBeGreaterThan(1)
    expect(other.taken).toEqual([])
    expect(webhooks.status()[0]?.lastError).toMatch(/redirects \(301\), which Marquee does not follow/)
  })

  it('is not called any more after 410, until a reload', async () => {
    const receiver = newReceiver()
    receiver.answer = () => new Response(null, { status: 410 })
    const { webhooks, serve, pass, observed } = scene([settingsOf(receiver.url)])
    await pass(2000)
    serve(1, 'A')
    await pass(48 * HOUR_MS)
    expect(receiver.taken).toHaveLength(1)
    expect(said(observed)).toEqual(['gone'])
    expect(webhooks.status()[0]?.isGone).toBe(true)
    receiver.answer = () => new Response()
    webhooks.adopt([settingsOf(receiver.url)])
    await pass(2000)
    expect(receiver.taken).toHaveLength(2)
    expect(webhooks.status()[0]).toMatchObject({ isGone: false, failingSince: null })
  })

  it('gives up a receiver that hangs, and one whose body does not end', async () => {
    for (const answer of [
      () => new Promise<Response>(() => {}),
      () => new Response(new ReadableStream({ pull: (to) => Bun.sleep(100).then(() => to.enqueue('slow')) })),
    ]) {
      const receiver = newReceiver()
      receiver.answer = answer
      const { time, webhooks, isStuck } = scene([settingsOf(receiver.url)])
      isStuck.now = true
      await time.pass(1100)
      await eventually(
        async () => receiver.taken.length,
        (count) => count === 1,
      )
      await time.pass(9000)
      expect(webhooks.status()[0]?.lastError).toBeNull()
      await time.pass(2000)
      expect(webhooks.status()[0]?.lastError).toMatch(/did not answer in full within 10 s/)
      await time.pass(1000)
      expect(receiver.taken).toHaveLength(1)
    }
  })

  it('reads no huge answer', async () => {
    const receiver = newReceiver()
    receiver.answer = () => new Response(Buffer.alloc(200 * 1024 * 1024))
    const { webhooks, pass } = scene([settingsOf(receiver.url)])
    await pass(2000)
    expect(webhooks.status()[0]?.lastError).toMatch(/is too large/)
  })

  it('reaches no private address by a public name, and no receiver that is not there', async () => {
    const { webhooks, pass, sent } = scene([
      // A name that the machine itself resolves to 127.0.0.1 or ::1.
      settingsOf('https://anything.localhost/x'),
      settingsOf('http://127.0.0.1:1/x'),
      settingsOf('https://name.invalid/x'),
    ])
    await pass(2000)
    await eventually(
      async () => webhooks.status().map(({ lastError }) => lastError ?? ''),
      (errors) => errors.every((error) => error !== ''),
    )
    const errors = webhooks.status().map(({ lastError }) => lastError)
    expect(errors[0]).toBe('anything.localhost leads to a private address, which Marquee calls only by that address')
    expect(errors[1]).toMatch(/127.0.0.1:1 refused the connection/)
    expect(errors[2]).toMatch(/name.invalid (?:is a name that cannot be resolved|could not be resolved)/)
    expect(sent.calls).toBe(2)
  })

  it.skipIf(!isHere)('reaches no private address that a name server gives for a name', async () => {
    const { webhooks, pass, sent } = scene([settingsOf(`https://${hostname()}/x`)])
    await pass(2000)
    await eventually(
      async () => webhooks.status()[0]?.lastError ?? '',
      (error) => error.includes('leads to a private address'),
    )
    expect(sent.calls).toBe(0)
  })

  it('is not held up by another one that is dead', async () => {
    const [dead, alive] = [newReceiver(), newReceiver()]
    dead.answer = () => new Promise<Response>(() => {})
    const { time, serve, isStuck } = scene([settingsOf(dead.url), settingsOf(alive.url)])
    isStuck.now = true
    for (let second = 0; second < 700; second++) {
      serve(second, 'A')
      await time.pass(1000)
    }
    await eventually(
      async () => alive.taken.length,
      (count) => count === 3,
    )
    expect(dead.taken.length).toBeGreaterThan(3)
  })

  it('is signed with the new secret from a reload on, and keeps its position', async () => {
    const receiver = newReceiver()
    const { webhooks, serve, pass, time } = scene([settingsOf(receiver.url)])
    await pass(2000)
    serve(1, 'A')
    webhooks.adopt([
      settingsOf('http://127.0.0.1:1/x'),
      settingsOf(receiver.url, { secret: new Secret(OTHER_SECRET, IN_THE_FILE) }),
    ])
    await pass(6 * MINUTE_MS)
    expect(receiver.bodies.map(({ type }) => type)).toEqual(['reset', 'changes'])
    const last = receiver.taken.at(-1)
    verify(time, last?.headers ?? {}, last?.text ?? '', OTHER_SECRET)
    webhooks.adopt([])
    serve(2, 'B')
    await pass(HOUR_MS)
    expect(receiver.taken).toHaveLength(2)
  })

  it('keeps its time and its counts over a reload, and is tried at once if it failed', async () => {
    const receiver = newReceiver()
    const { webhooks, serve, pass } = scene([settingsOf(receiver.url)])
    await pass(2000)
    serve(1, 'A')
    webhooks.adopt([settingsOf(receiver.url)])
    await pass(4 * MINUTE_MS)
    expect(receiver.taken).toHaveLength(1)
    expect(webhooks.calls()[0]).toMatchObject({ outcome: 'ok', count: 1 })
    receiver.answer = () => new Response(null, { status: 500 })
    await pass(2 * HOUR_MS)
    receiver.answer = () => new Response()
    const before = receiver.taken.length
    webhooks.adopt([settingsOf(receiver.url)])
    await pass(2000)
    expect(receiver.taken).toHaveLength(before + 1)
  })

  it('ends its call if a reload removes it, and if the service stops', async () => {
    for (const end of [(one: Webhooks) => one.adopt([]), (one: Webhooks) => one.stop()]) {
      const receiver = newReceiver()
      receiver.answer = () => new Promise<Response>(() => {})
      const { time, webhooks, sent, observed } = scene([settingsOf(receiver.url)])
      await time.pass(1100)
      await eventually(
        async () => receiver.taken.length,
        (count) => count === 1,
      )
      end(webhooks)
      await eventually(
        async () => sent.open,
        (open) => open === 0,
      )
      expect(observed).toEqual([])
    }
  })

  it('is called by the leader only, and says to read the lists if another one led meanwhile', async () => {
    const receiver = newReceiver()
    const first = { leads: true }
    const one = scene([settingsOf(receiver.url)], () => first.leads)
    const other = scene([settingsOf(receiver.url)], () => !first.leads)
    for (const { pass } of [one, other]) await pass(2000)
    expect(receiver.taken).toHaveLength(1)
    first.leads = false
    for (const { serve, pass } of [one, other]) {
      serve(1, 'A')
      await pass(6 * MINUTE_MS)
    }
    expect(receiver.bodies.map(({ type }) => type)).toEqual(['reset', 'reset'])
    // What the other instance told is told again: at least once.
    first.leads = true
    await one.pass(2000)
    expect(receiver.bodies.at(-1)?.data.Items.map(({ Id }) => Id)).toEqual([guidOf(1)])
  })

  it('goes on after a restart from what the snapshot keeps', async () => {
    const receiver = newReceiver()
    const before = scene([settingsOf(receiver.url)])
    before.serve(1, 'A')
    await before.pass(2000)
    before.feed.stop()
    // A read may end while the service stops.
    before.serve(2, 'B')
    before.webhooks.stop()
    const kept = before.feed.kept()
    expect(JSON.stringify(kept)).not.toContain('private')
    const after = scene([settingsOf(receiver.url)])
    after.serve(1, 'A')
    after.serve(2, 'B')
    if (kept !== null) after.feed.resume(kept)
    await after.pass(2000)
    expect(receiver.bodies.at(-1)).toMatchObject({ type: 'changes', data: { Items: [{ Id: guidOf(2) }] } })
    await after.pass(HOUR_MS)
    expect(receiver.taken).toHaveLength(2)
  })

  it('tells its secret and its URL to nobody', async () => {
    const receiver = newReceiver()
    receiver.answer = () => new Response(null, { status: 500 })
    const { webhooks, pass, observed } = scene([
      settingsOf(receiver.url),
      settingsOf(receiver.url.replace('build_hooks/', ''), { on: ['events'] }),
    ])
    await pass(2000)
    const shown = JSON.stringify([webhooks.status(), webhooks.calls(), observed])
    expect(shown).not.toMatch(/private-(?:path|query)|whsec_/)
    const origin = new URL(receiver.url).origin
    expect(webhooks.status().map(({ webhook }) => webhook)).toEqual([
      `webhooks[0] at ${origin}/build_hooks/…`,
      `webhooks[1] at ${origin}`,
    ])
    expect(webhooks.calls()).toContainEqual({
      webhook: `webhooks[1] at ${origin}`,
      outcome: 'refused',
      count: 1,
    })
  })
})
