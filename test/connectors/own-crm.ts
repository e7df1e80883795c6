import { parseGuid } from '../../src/domain/guid.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { Guid } from '../../src/domain/guid.ts'
import { openZone } from '../../src/domain/zone.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { Cells, Connector, Stream } from '../../src/crm/connector/marquee-connector.d.ts'
import { openShippedCrm } from '../../src/crm/context/shipped-crm.ts'
import { listSuspicions } from '../../src/crm/mapping/suspicions.ts'
import { openHttpClient } from '../../src/runtime/outgoing.ts'
import type { Crm, Cursor, Held, Page, ReadOutcome, ReadRequest, ListSource } from '../../src/sync/port.ts'
import { type Time, systemTime } from '../../src/time/time.ts'

const zone = openZone('Europe/London')
if (zone === null) throw new Error('the runtime has no zones')

export const fields = {
  Id: 'id',
  Name: 'name',
  Start: 'starts',
  Finish: 'ends',
  TicketCapacity: 'seats',
  TicketsAvailable: { subtract: ['seats', 'sold'] },
  VenueId: 'place.id',
} as const

/** A row of a list of events, as an API might give it. */
export type TestRow = Cells & { readonly id: string; readonly changed: string }

export function eventRow(number: number, more: Cells = {}): TestRow {
  return {
    id: idNumbered(number),
    name: `event ${number}`,
    starts: '2036-05-01T19:30:00Z',
    ends: '2036-05-01T21:30:00Z',
    seats: 100,
    sold: 40,
    place: { id: idNumbered(1) },
    changed: '2026-11-01T00:00:00Z',
    ...more,
  }
}

export function idNumbered(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`
}

const noVenues: Stream = {
  fields: { Id: 'id', Name: 'name' },
  async *full() {
    yield []
  },
}

export interface OwnCrm {
  readonly crm: Crm
  readonly events: ListSource<EventRecord>
  readonly notices: string[]
}

/** Opens a connector in this process, with only its list of events. */
export async function openOwn(
  events: Stream,
  {
    time = systemTime,
    requestTimeoutMs = 30_000,
    maxAgeMs = 30_000,
    fullReadEveryMs = 900_000,
    suspicions = listSuspicions(),
    values = {},
  } = {},
  more: Partial<Connector> = {},
): Promise<OwnCrm> {
  const notices: string[] = []
  const connector: Connector = { api: 2, events, venues: noVenues, ...more }
  const settings = {
    kind: 'our crm',
    idNamespace: null,
    timeZone: zone as NonNullable<typeof zone>,
    availability: null,
    events: null,
    venues: null,
    proxy: null,
    ca: null,
    allowInsecure: false,
  }
  const crm = await openShippedCrm(connector, values, settings, {
    showIn: settings.timeZone,
    time,
    observe: (observation: Observation) => observation.kind === 'crm-noticed' && notices.push(observation.message),
    limits: () => ({ requestTimeoutMs, maxAgeMs, fullReadEveryMs }),
    suspicions,
    env: {},
    openHttpClient,
  })
  return { crm, events: crm.events, notices }
}

/** What is held of the events, as a replica holds it. */
export class Reader {
  readonly versions: Map<Guid, number> = new Map()
  cursor: Cursor | null = null
  /** What the last read said of each row, by its number, in the order it came. */
  said: [number, string][] = []
  pages: Page<EventRecord>[] = []
  readonly #source: ListSource<EventRecord>

  constructor(source: ListSource<EventRecord>) {
    this.#source = source
  }

  /** Reads to the end, and holds what came. */
  async read(request: Partial<ReadRequest> & Pick<ReadRequest, 'kind'>): Promise<ReadOutcome> {
    const { versions } = this
    const held: Held = {
      get size() {
        return versions.size
      },
      version: (id) => versions.get(id) ?? Number.NaN,
    }
    const reading = this.#source.read({
      cursor: this.cursor,
      held,
      served: null,
      signal: new AbortController().signal,
      ...request,
    })
    ;[this.said, this.pages] = [[], []]
    for (;;) {
      const next = await reading.next()
      if (next.done === true) {
        if (next.value.ok) this.cursor = next.value.cursor
        return next.value
      }
      this.pages.push(next.value)
      for (const change of next.value.changes) {
        const number = change.id === null ? 0 : Number.parseInt(change.id.slice(-12), 16)
        this.said.push([number, change.kind === 'record' ? (change.record.Name ?? '') : change.kind])
        if (change.kind === 'record' || change.kind === 'withheld') {
          if (change.id !== null) versions.set(change.id, change.version)
        } else if (change.kind === 'deleted') versions.delete(change.id)
      }
    }
  }

  /** How far the source was behind in the last read. */
  get lagMs(): number {
    return Math.max(...this.pages.map(({ sourceLagMs }) => sourceLagMs))
  }

  full(more: Partial<ReadRequest> = {}): Promise<ReadOutcome> {
    return this.read({ kind: 'full', ...more })
  }

  changes(more: Partial<ReadRequest> = {}): Promise<ReadOutcome> {
    return this.read({ kind: 'changes', ...more })
  }

  /** The served rows, of which a read has to say something. */
  served(): NonNullable<ReadRequest['served']> {
    const ids = new Set(this.versions.keys())
    const seen = (): Set<number> => new Set(this.said.map(([number]) => number))
    return {
      count: ids.size,
      has: (id) => ids.has(id),
      countMissing: () => [...ids].filter((id) => !seen().has(Number.parseInt(id.slice(-12), 16))).length,
    }
  }
}

export function guidNumbered(number: number): Guid {
  const id = parseGuid(idNumbered(number))
  if (id === null) throw new Error('no id')
  return id
}

/** The real clocks, and what a test adds to them. */
export class ShiftedTime implements Time {
  aheadMs = 0
  readonly after: Time['after'] = (delayMs, then) => systemTime.after(delayMs, then)
  readonly random = (): number => systemTime.random()
  now(): { monotonicMs: number; wallMs: number } {
    const { monotonicMs, wallMs } = systemTime.now()
    return { monotonicMs: monotonicMs + this.aheadMs, wallMs: wallMs + this.aheadMs }
  }
}
