import { Chance } from '../model/chance.ts'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { RowHistory } from '../support/row-history.ts'
import { FileHistory, IDS, rowOf } from './file-history.ts'
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

type Kind = 'event' | 'venue' | 'event-venue'

interface Answer extends Pick<Response, 'status' | 'headers'> {
  readonly text: string
}

/** The venue that all events name. */
const VENUE_OF_ALL = rowOf('venues', IDS.constant[0] ?? '')

/** The record that an answer tells of. That venue is always there, so its event decides that there is none. */
function rowIn(kind: Kind, id: string, status: number): string {
  if (kind === 'event-venue' && status === 200) return VENUE_OF_ALL
  return rowOf(kind === 'venue' ? 'venues' : 'events', id)
}

/**
 * Runs a real service before a files CRM that is changed and harmed at random, and compares all it says with what was.
 */
export async function checkHistory(runtime: Runtime, seed: number, lastsMs: number): Promise<Verdict> {
  const chance = new Chance(seed)
  const freshness = { maxAge: `${MAX_AGE_MS}ms`, refreshEvery: '100ms' }
  const victim = await Victim.start(runtime, { freshness, lists: 'on' }, null)
  const history = new RowHistory()
  const lists = {
    events: new FileHistory('events', victim.directory.crm, chance.fork(), history),
    venues: new FileHistory('venues', victim.directory.crm, chance.fork(), history),
  }
  const wrong: string[] = []
  const statuses: Record<string, number> = {}
  let answers = 0

  async function answerTo(path: string): Promise<Answer> {
    const reply = await fetch(`http://127.0.0.1:${victim.port}${path}`)
    const text = await reply.text()
    answers++
    statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
    return { status: reply.status, headers: reply.headers, text }
  }

  async function ask(kind: Kind, id: string): Promise<number> {
    const path = kind === 'venue' ? `/api/venues/${id}` : `/api/events/${id}${kind === 'event' ? '' : '/venue'}`
    const judge = judgeOf([rowOf('events', id), rowOf('venues', id), VENUE_OF_ALL])
    const answer = await answerTo(path)
    const problem = judge(rowIn(kind, id, answer.status), answer)
    if (problem !== null) wrong.push(`${path}: ${problem} (${answer.text.slice(0, 200)})`)
    return answer.status
  }

  /** Each id as the list tells of it: its record there, or that it is not there (contract §4). */
  async function askList(): Promise<void> {
    const ids = [...IDS.constant, ...IDS.fickle]
    const judge = judgeOf(ids.map((id) => rowOf('events', id)))
    const answer = await answerTo('/api/events?from=0001-01-01&limit=200')
    const records =
      answer.status === 200
        ? (JSON.parse(answer.text) as { readonly Events: readonly { readonly Id: string }[] }).Events
        : []
    for (const id of ids) {
      const record = records.find(({ Id }) => Id === id)
      const status = answer.status === 200 && record === undefined ? 404 : answer.status
      const text = record === undefined ? '' : JSON.stringify(record)
      const problem = judge(rowOf('events', id), { ...answer, status, text })
      if (problem !== null) wrong.push(`${id} in /api/events: ${problem} (${text.slice(0, 200)})`)
    }
  }

  /** As of now, before the request: others may be shown something newer before it is answered. */
  function judgeOf(rows: readonly string[]): (row: string, answer: Answer) => string | null {
    const shown = new Map(rows.map((row) => [row, history.shown(row)]))
    const atMs = performance.now() - MAX_AGE_MS
    return (id, { status, headers, text }) => {
      if (status === 502) return headers.has('retry-after') ? null : 'a 502 without Retry-After'
      if (status !== 200 && status !== 404) return `status ${status}`
      if (status === 404) return history.check({ id, atMs, value: null }, '', shown.get(id))
      if (Number(headers.get('age')) * 1000 > MAX_AGE_MS) return `Age ${headers.get('age')}`
      const numbers = new Set([...text.matchAll(/"version (\d+)"/g)].map(([, number]) => Number(number)))
      const [value = 0] = numbers
      const isWhole = !id.startsWith('events') || text.includes(`"TicketCapacity":${value},`)
      if (numbers.size !== 1 || !isWhole) return 'a mix of versions'
      return history.check({ id, atMs, value }, '', shown.get(id))
    }
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
  const misfortunes = Object.values(lists).map(async (list) => {
    const own = chance.fork()
    while (!isOver()) {
      list.change()
      // Mostly soon, now and then so late that the maximum age is past meanwhile.
      await pause(own.happens(0.12) ? own.between(1000, 2500) : own.span(120))
    }
    list.replace()
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
  const faults = lists.events.faults + lists.venues.faults
  const changes = lists.events.versions + lists.venues.versions
  return { faults, changes, answers, statuses, wrong, exit: await victim.stop() }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
