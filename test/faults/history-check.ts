import { Chance } from '../model/chance.ts'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import type { Version } from './file-history.ts'
import { FileHistory, IDS } from './file-history.ts'
import { Victim } from './victim.ts'

const MAX_AGE_MS = 1000
const CLIENTS = 6
/** Answers of 200, however slow the machine is. */
const ENOUGH = 100

export interface Verdict {
  readonly faults: number
  readonly changes: number
  readonly answers: number
  readonly statuses: Readonly<Record<string, number>>
  /** One sentence for each answer that must not have been. */
  readonly wrong: readonly string[]
  readonly exit: number | NodeJS.Signals
}

interface Asked {
  readonly kind: 'event' | 'venue' | 'event-venue'
  readonly id: string
  readonly sentMs: number
  readonly receivedMs: number
}

/**
 * Runs a real service before a files CRM that is changed and harmed at random, and compares all it says with what was.
 */
export async function checkHistory(runtime: Runtime, seed: number, lastsMs: number): Promise<Verdict> {
  const chance = new Chance(seed)
  const freshness = { maxAge: `${MAX_AGE_MS}ms`, refreshEvery: '100ms' }
  const victim = await Victim.start(runtime, { freshness, lists: 'on' }, null)
  const histories = {
    events: new FileHistory('events', victim.directory.crm, chance.fork()),
    venues: new FileHistory('venues', victim.directory.crm, chance.fork()),
  }
  const wrong: string[] = []
  const statuses: Record<string, number> = {}
  /**
   * The newest version of each record that anybody has seen: rows that go, go a moment after the others have changed.
   */
  const seen = new Map<string, number>()
  let answers = 0

  async function ask(kind: Asked['kind'], id: string): Promise<number> {
    const path = kind === 'venue' ? `/api/venues/${id}` : `/api/events/${id}${kind === 'event' ? '' : '/venue'}`
    const list = kind === 'event' ? 'events' : 'venues'
    const record = `${list} ${kind === 'event-venue' ? IDS.constant[0] : id}`
    const newest = seen.get(record) ?? 0
    const sentMs = performance.now()
    const reply = await fetch(`http://127.0.0.1:${victim.port}${path}`)
    const text = await reply.text()
    const asked = { kind, id, sentMs, receivedMs: performance.now() }
    answers++
    statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
    const problem = judge(asked, reply, text, record, newest)
    if (problem !== null) wrong.push(`${path}: ${problem} (${text.slice(0, 200)})`)
    return reply.status
  }

  /** Each id as the list tells of it: its record there, or that it is not there (contract §4). */
  async function askList(): Promise<void> {
    const newest = new Map(seen)
    const sentMs = performance.now()
    const reply = await fetch(`http://127.0.0.1:${victim.port}/api/events?from=0001-01-01&limit=200`)
    const text = await reply.text()
    const receivedMs = performance.now()
    answers++
    statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
    const records =
      reply.status === 200 ? (JSON.parse(text) as { readonly Events: readonly { readonly Id: string }[] }).Events : []
    for (const id of [...IDS.constant, ...IDS.fickle]) {
      const record = records.find(({ Id }) => Id === id)
      const status = reply.status === 200 && record === undefined ? 404 : reply.status
      const own = record === undefined ? '' : JSON.stringify(record)
      const asked = { kind: 'event', id, sentMs, receivedMs } as const
      const problem = judge(
        asked,
        { status, headers: reply.headers },
        own,
        `events ${id}`,
        newest.get(`events ${id}`) ?? 0,
      )
      if (problem !== null) wrong.push(`${id} in /api/events: ${problem} (${own.slice(0, 200)})`)
    }
  }

  function judge(
    { kind, id, sentMs, receivedMs }: Asked,
    reply: Pick<Response, 'status' | 'headers'>,
    text: string,
    record: string,
    newest: number,
  ): string | null {
    const list = kind === 'event' ? 'events' : 'venues'
    const within = (version: Version): boolean => version.untilMs >= sentMs - MAX_AGE_MS && version.fromMs <= receivedMs
    if (reply.status === 502) return reply.headers.has('retry-after') ? null : 'a 502 without Retry-After'
    if (reply.status === 404) {
      const lists = kind === 'event-venue' ? (['events'] as const) : ([list] as const)
      // The venue that all events name is always there: its event decides.
      const missing = lists.some((name) =>
        histories[name].versions.some((version) => within(version) && !isIn(version, id)),
      )
      return missing ? null : 'not found, and always there'
    }
    if (reply.status !== 200) return `status ${reply.status}`
    if (Number(reply.headers.get('age')) * 1000 > MAX_AGE_MS) return `Age ${reply.headers.get('age')}`
    const numbers = new Set([...text.matchAll(/"version (\d+)"/g)].map(([, number]) => Number(number)))
    const [number = 0] = numbers
    if (numbers.size !== 1) return 'a mix of versions'
    if (kind === 'event' && !text.includes(`"TicketCapacity":${number},`)) return 'a mix of versions'
    const version = histories[list].versions[number - 1]
    if (version === undefined) return 'of the future'
    if (version.fromMs > receivedMs) return 'of the future'
    if (version.untilMs < sentMs - MAX_AGE_MS) return `${Math.round(sentMs - version.untilMs)} ms old`
    if (kind !== 'event-venue' && !isIn(version, id)) return 'never in that version'
    if (number < newest) return `back to ${number} after ${newest}`
    seen.set(record, Math.max(seen.get(record) ?? 0, number))
    return null
  }

  const until = performance.now() + lastsMs
  const isOver = (): boolean => performance.now() > until && (statuses['200'] ?? 0) > ENOUGH
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const own = new Chance(seed + 1 + index)
    while (!isOver()) {
      const kind = own.pick(['event', 'venue', 'event-venue'] as const)
      await ask(kind, own.pick([...IDS.constant, ...IDS.fickle]))
      if (own.happens(0.2)) await askList()
      // The machine belongs to others too.
      await pause(own.between(0, 8))
    }
  })
  const misfortunes = Object.values(histories).map(async (history) => {
    const own = chance.fork()
    while (!isOver()) {
      history.change()
      // Mostly soon, now and then so late that the maximum age is past meanwhile.
      await pause(own.happens(0.12) ? own.between(1000, 2500) : own.span(120))
    }
    history.replace()
  })
  await Promise.all([...clients, ...misfortunes])
  // What is mended is served again, by itself.
  const [id] = IDS.constant
  if (id !== undefined) {
    await eventually(
      () => ask('event-venue', id),
      (status) => status === 200,
    )
  }
  const faults = histories.events.faults + histories.venues.faults
  const changes = histories.events.versions.length + histories.venues.versions.length
  return { faults, changes, answers, statuses, wrong, exit: await victim.stop() }
}

function isIn(version: Version, id: string): boolean {
  return version.fickle.has(id) || IDS.constant.some((constant) => constant === id)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
