import { expect, it } from 'bun:test'
import { Chance } from '../../test/model/chance.ts'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import { SEED } from '../../test/support/depth.ts'
import { ChangeFeed } from '../changes/change-feed.ts'
import type { KeptChanges } from '../changes/change-journal.ts'
import { trustingHttpClient } from '../crm/web/http-client.ts'
import { LISTS } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import { IN_THE_FILE, Secret } from '../domain/secret.ts'
import { type RecordLists, ListMaker } from '../records/row-records.ts'
import { openHttpClient } from '../runtime/outgoing.ts'
import { Webhooks } from './webhooks.ts'

type Records = ReadonlyMap<Guid, string>

interface Snapshot {
  readonly records: Records
  readonly kept: KeptChanges | null
}

const RUNS = 20
const STEPS = 40
const DAY_MS = 24 * 3_600_000

/** A process of Marquee: its lists, and webhooks that call a receiver. */
class Process {
  readonly feed: ChangeFeed
  readonly webhooks: Webhooks
  readonly #lists: RecordLists = new ListMaker(formatter).make()
  readonly #records = new Map<Guid, string>()
  readonly calls = { open: 0 }

  constructor(time: VirtualTime, url: string, { records, kept }: Snapshot) {
    this.feed = new ChangeFeed(() => this.#lists, time, '')
    this.become(records)
    if (kept !== null) this.feed.resume(kept)
    const web = trustingHttpClient(openHttpClient, null, { configured: null, env: {} })
    const counted: typeof web = {
      ...web,
      send: (request) => {
        this.calls.open++
        return web.send(request).finally(() => this.calls.open--)
      },
    }
    const options = { feed: this.feed, formatter, web: counted, time, observe: () => {}, mayCall: () => true }
    const hook = {
      url: new Secret(url, IN_THE_FILE),
      secret: null,
      on: LISTS,
      everyMs: 60_000,
      body: 'changes',
    } as const
    this.webhooks = new Webhooks(options, [hook])
    this.webhooks.start()
  }

  get records(): Records {
    return new Map(this.#records)
  }

  /** Writes what differs, as a read of the CRM does. */
  become(records: Records): void {
    const { events } = this.#lists
    for (const [id, name] of records) {
      if (this.#records.get(id) === name) continue
      events.serve(events.find(id) ?? events.insert(id), eventOf(id, { Name: name }))
      this.#records.set(id, name)
    }
    for (const id of this.#records.keys()) {
      if (records.has(id)) continue
      const row = events.find(id)
      if (row !== null) events.remove(row)
      this.#records.delete(id)
    }
  }
}

/** A receiver keeps a copy by its calls alone. It fails now and then, before or after it has done what it was told. */
async function run(seed: number): Promise<{ readonly resets: number; readonly pages: number }> {
  const [chance, time] = [new Chance(seed), new VirtualTime(seed)]
  const found = { resets: 0, pages: 0 }
  let copy = new Map<Guid, string>()
  let isWell = true
  const take = (text: string): void => {
    const { type, data } = JSON.parse(text) as {
      type: string
      data: { Items: { Id: Guid; State: string }[]; Next: string; More: boolean }
    }
    if (type === 'reset') {
      copy = new Map(marquee.records)
      found.resets++
      return
    }
    const update = (id: Guid): unknown => {
      const name = marquee.records.get(id)
      return name === undefined ? copy.delete(id) : copy.set(id, name)
    }
    for (const { Id } of data.Items) update(Id)
    let next = data.More ? data.Next.replace('~/changes?since=', '') : null
    while (next !== null) {
      const page = marquee.feed.since(next)
      for (const { id } of page?.changes ?? []) update(id)
      next = page?.more === true ? page.next : null
      found.pages++
    }
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const text = await request.text()
      const what = isWell ? 1 : chance.next()
      if (what > 0.3) take(text)
      return new Response(null, { status: what > 0.6 ? 204 : 500 })
    },
  })
  const url = `http://127.0.0.1:${server.port}/`
  let records = new Map<Guid, string>()
  let snapshot: Snapshot = { records, kept: null }
  let marquee = new Process(time, url, snapshot)
  const pass = async (ms: number): Promise<void> => {
    for (const untilMs = time.trueMs + ms; time.trueMs < untilMs;) {
      await time.pass(1000)
      while (marquee.calls.open > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  for (let step = 0; step < STEPS; step++) {
    isWell = chance.happens(0.5)
    records = new Map(records)
    for (let changes = chance.happens(0.1) ? 2500 : chance.below(5); changes > 0; changes--) {
      const id = guidOf(chance.below(4000))
      if (chance.happens(0.3)) records.delete(id)
      else records.set(id, `name ${chance.below(1000)}`)
    }
    marquee.become(records)
    await pass(chance.below(100) * 1000)
    const what = chance.below(8)
    if (what < 2) snapshot = { records: marquee.records, kept: marquee.feed.kept() }
    // A stop writes a last snapshot, a kill does not; now and then the file is lost.
    if (what === 2) snapshot = { records: marquee.records, kept: marquee.feed.kept() }
    if (what === 4) snapshot = { records: new Map(), kept: null }
    if (what >= 2 && what <= 4) {
      marquee.webhooks.stop()
      marquee = new Process(time, url, snapshot)
      marquee.become(records)
    }
  }
  isWell = true
  await pass(2 * 3_600_000)
  const inOrder = (given: Records): unknown => [...given].toSorted(([left], [right]) => (left < right ? -1 : 1))
  expect(inOrder(copy)).toEqual(inOrder(records))
  // Nothing is called of which nothing has changed.
  const before = found.resets
  await pass(DAY_MS / 12)
  expect(found.resets).toBe(before)
  marquee.webhooks.stop()
  await server.stop(true)
  return found
}

it('a copy kept by the calls alone equals the lists, after failures, crashes and lost snapshots', async () => {
  const found = { resets: 0, pages: 0 }
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const { resets, pages } = await run(seed)
    found.resets += resets
    found.pages += pages
  }
  expect(found.resets).toBeGreaterThan(RUNS)
  expect(found.pages).toBeGreaterThan(0)
}, 600_000)
