import type { EventRecord } from '../../src/domain/event.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import { NO_FURTHER } from '../../src/domain/further.ts'
import type { Guid } from '../../src/domain/guid.ts'
import { openZone } from '../../src/domain/zone.ts'
import { ConnectorSource } from '../../src/crm/connector/connector-source.ts'
import { RowStream } from '../../src/crm/connector/row-stream.ts'
import { GivenSettings } from '../../src/crm/context/given-settings.ts'
import type {
  ConnectorOutline,
  RowHost,
  Rows,
  StreamBatch,
  Way,
  WayArgument,
} from '../../src/crm/connector/row-host.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../../src/crm/mapping/map-row.ts'
import { Suspicions } from '../../src/crm/mapping/suspicions.ts'
import type { ListName } from '../../src/domain/field.ts'
import { type ListSource, failed } from '../../src/sync/port.ts'
import { PAGE_ROWS, type Parts, type View, isTold, sourceOf } from './model-source.ts'
import type { Seen } from './table.ts'

/** The model's wall clock at its beginning. */
const WALL_MS = 1_700_000_000_000

const zone = openZone('UTC')

/** When a connector of the model takes a list for read. It belongs to the model, but a mutant may break it. */
export const LAST_PAGE = {
  is: (rows: number): boolean => rows === 0,
}

/** The CRM behind the connector kit: the model's rows come through a host, as a connector's own do. */
export function ownConnector<Item>(parts: Parts<Item>, ways: readonly Way[]): ListSource<Item> {
  const { table, setting, time } = parts
  const host = new ModelHost(parts, ways)
  const stream = new RowStream(table.name, host, null, NO_FURTHER)
  const kind = table.name === 'events' ? EVENT_ROWS : VENUE_ROWS
  if (zone === null) throw new Error('the runtime has no zones')
  const source = new ConnectorSource({
    kind: kind as typeof EVENT_ROWS,
    stream,
    parts: {
      idNamespace: null,
      zone,
      showIn: zone,
      suspicions: new Suspicions(),
      further: [],
      from: { events: 'events', venues: 'venues' },
    },
    readsTickets: false,
    time,
    observe: () => {},
    limits: () => ({
      requestTimeoutMs: setting.patienceMs / 2,
      maxAgeMs: setting.maxAgeMs,
      fullReadEveryMs: setting.fullReadEveryMs,
    }),
  })
  const read = source as ListSource<EventRecord> as unknown as ListSource<Item>
  return sourceOf(parts, ways.includes('changes') || ways.includes('since'), (request, view) => {
    host.views.set(request.signal, view)
    return read.read(request)
  })
}

class ModelHost<Item> implements RowHost {
  readonly name = 'the model'
  /** The reads, by their signals. */
  readonly views = new WeakMap<AbortSignal, View>()
  readonly #parts: Parts<Item>
  readonly #outline: ConnectorOutline

  constructor(parts: Parts<Item>, ways: readonly Way[]) {
    const updatedAt = ways.includes('since') ? { updatedAt: 'changed' } : {}
    const own = { Id: 'id', Name: 'epoch' }
    const events = { ...own, Start: 'starts', Finish: 'ends', TicketsAvailable: 'sold', VenueId: 'venue' }
    this.#parts = parts
    this.#outline = {
      events: {
        ways,
        said: {
          fields: { ...events, TicketCapacity: { value: '1000000' } },
          showOnWeb: { shown: [true] },
          ...updatedAt,
        },
      },
      venues: { ways, said: { fields: own, active: { shown: [true] }, ...updatedAt } },
    }
  }

  async ready(): Promise<ConnectorOutline> {
    return this.#outline
  }

  rows(_: ListName, way: Way, argument: WayArgument, signal: AbortSignal): Rows {
    if (way === 'changes') return this.#changes(typeof argument === 'string' ? argument : null)
    if (way === 'byId') return this.#byId(new Set(argument ?? []))
    const sinceS = way === 'since' ? (Date.parse(String(argument)) - WALL_MS) / 1000 : Number.NEGATIVE_INFINITY
    return this.#pages(
      this.views.get(signal),
      (seen) => isTold(this.#parts, seen) && seen.state.updatedAtS >= sinceS,
      way === 'ids' ? (seen) => JSON.stringify([seen.story.id, stampOf(seen)]) : rowOf,
    )
  }

  async *#pages(view: View | undefined, isAsked: (seen: Seen) => boolean, textOf: (seen: Seen) => string): Rows {
    const { table, exchange, chance } = this.#parts
    if (view === undefined) throw new Error('a read without a view')
    const { begunMs, named } = view
    for (let after = ''; ;) {
      const key = after
      // Servers give short pages in the middle of a list, too.
      const size = chance.happens(0.2) ? PAGE_ROWS - 2 : PAGE_ROWS
      const reply = await exchange.ask((trueMs) =>
        table
          .rowsAt(trueMs, table.visible)
          .filter((seen) => seen.story.id > key && isAsked(seen))
          .toSorted((left, right) => (left.story.id < right.story.id ? -1 : 1))
          .slice(0, size),
      )
      if (!reply.ok) return reply
      yield batchOf(reply.result.map(textOf))
      for (const { story } of reply.result) named.add(story.id)
      after = reply.result.at(-1)?.story.id ?? after
      if (LAST_PAGE.is(reply.result.length)) return { ok: true, cursor: null }
      table.betweenPages?.({ begunMs, after, named })
    }
  }

  async *#byId(ids: ReadonlySet<string>): Rows {
    const { table, exchange } = this.#parts
    const reply = await exchange.ask((trueMs) =>
      table.rowsAt(trueMs, table.visible).filter((seen) => ids.has(seen.story.id) && isTold(this.#parts, seen)),
    )
    if (!reply.ok) return reply
    yield batchOf(reply.result.map(rowOf))
    return { ok: true, cursor: null }
  }

  async *#changes(cursor: string | null): Rows {
    const { table, exchange, chance, setting } = this.#parts
    if (cursor === null) {
      const reply = await exchange.ask(() => table.sequence)
      return reply.ok ? { ok: true, cursor: `t${reply.result}` } : reply
    }
    if (chance.happens(0.01 * setting.trouble)) return failed('cursor-refused', 'the token is too old')
    const token = Number(cursor.slice(1))
    const told = new Map<Guid, number>()
    let reached = token
    for (let since = token; ;) {
      const from = since
      const sight = table.visible
      const reply = await exchange.ask((trueMs) => ({
        rows: table
          .rowsAt(trueMs, sight)
          .filter(({ state }) => state.sequence > from)
          .toSorted((left, right) => left.state.sequence - right.state.sequence)
          .slice(0, PAGE_ROWS),
        gone: table.deletions.filter(({ id, sequence }) => sequence > token && (sight === null || sight.has(id))),
        at: table.sequence,
      }))
      if (!reply.ok) return reply
      const { rows, gone, at } = reply.result
      for (const { story, state } of rows) told.set(story.id, Math.max(state.sequence, told.get(story.id) ?? 0))
      const isLast = rows.length < PAGE_ROWS
      const deleted = isLast
        ? gone.filter(({ id, sequence }) => sequence > (told.get(id) ?? 0)).map(({ id }) => id)
        : []
      yield { ...batchOf(rows.map(rowOf)), deleted }
      reached = at
      if (isLast) return { ok: true, cursor: `t${reached}` }
      since = Math.max(since, rows.at(-1)?.state.sequence ?? 0)
    }
  }

  readonly given: GivenSettings = new GivenSettings({})

  onHint(): () => void {
    return () => {}
  }

  async close(): Promise<void> {}
}

function batchOf(rows: readonly string[]): StreamBatch {
  return {
    rows: rows.map((row) => Buffer.from(row)),
    deleted: [],
    total: null,
    lagMs: 0,
    full: false,
    stable: null,
    goesOn: false,
  }
}

function stampOf({ state }: Seen): string {
  return new Date(WALL_MS + state.updatedAtS * 1000).toISOString()
}

function rowOf(seen: Seen): string {
  const { id } = seen.story
  const { epoch, sold, venue, shown } = seen.state
  return JSON.stringify({
    id,
    epoch: String(epoch),
    sold,
    venue: venue === EMPTY_GUID ? null : venue,
    shown,
    starts: '2036-05-01T19:30:00Z',
    ends: '2036-05-01T19:30:00Z',
    changed: stampOf(seen),
  })
}
