import { assembleAlone } from '../../src/app/assemble.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { Guid } from '../../src/domain/guid.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { Crm, Cursor, Held, Page, ReadEnd, ReadOutcome, ReadRequest } from '../../src/sync/port.ts'
import { systemTime } from '../../src/time/time.ts'
import type { Given, World } from './world.ts'

/** One read of the events, of which a test asks for a page when it likes. */
export class Read {
  /** How many rows each page had. */
  readonly sizes: number[] = []
  /** What was last said of each id, by its number in `idOf`. */
  readonly rows: Map<number, string> = new Map()
  outcome: ReadOutcome | null = null
  readonly #pages: AsyncGenerator<Page<EventRecord>, ReadOutcome, void>
  readonly #versions: Map<Guid, number>

  constructor(pages: AsyncGenerator<Page<EventRecord>, ReadOutcome, void>, versions: Map<Guid, number>) {
    this.#pages = pages
    this.#versions = versions
  }

  /** The next page that has rows; false behind the last one. */
  async page(): Promise<boolean> {
    for (;;) {
      const next = await this.#pages.next()
      if (next.done === true) {
        this.outcome = next.value
        return false
      }
      const { changes } = next.value
      if (changes.length === 0) continue
      this.sizes.push(changes.length)
      for (const change of changes) {
        if (change.id === null) continue
        this.rows.set(
          Number.parseInt(change.id, 16),
          change.kind === 'record' ? (change.record.Name ?? '') : change.kind,
        )
        if (change.kind === 'record' || change.kind === 'withheld') this.#versions.set(change.id, change.version)
      }
      return true
    }
  }

  async toEnd(): Promise<ReadOutcome> {
    while (await this.page());
    if (this.outcome === null) throw new Error('a read ended without an outcome')
    return this.outcome
  }

  /** To its end, which has to be a good one. */
  async well(): Promise<ReadEnd> {
    const outcome = await this.toEnd()
    if (!outcome.ok) throw new Error(`${outcome.failure.kind}: ${outcome.failure.message}`)
    return outcome
  }

  async abandon(): Promise<void> {
    await this.#pages.return({ ok: false, failure: { kind: 'internal', message: 'abandoned', retryAfterMs: null } })
  }
}

/** The connector of a world alone, and what it would have told a replica that holds all it was given. */
export class Reads {
  readonly observations: readonly Observation[]
  readonly #crm: Crm
  readonly #versions = new Map<Guid, number>()

  private constructor(crm: Crm, observations: readonly Observation[]) {
    this.#crm = crm
    this.observations = observations
  }

  static async open(world: World, given: Given = {}): Promise<Reads> {
    const observations: Observation[] = []
    const configuration = await world.configuration(given)
    const { crm } = await assembleAlone(configuration, systemTime, (observation) => void observations.push(observation))
    return new Reads(crm, observations)
  }

  full(audit = false): Read {
    return this.#read({ kind: 'full', cursor: null, purpose: audit ? 'audit' : 'refresh' })
  }

  changes(cursor: Cursor | null): Read {
    return this.#read({ kind: 'changes', cursor })
  }

  /** What an operator was told beside the reads. */
  get notices(): readonly string[] {
    return this.observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : []))
  }

  async close(): Promise<void> {
    await this.#crm.close()
  }

  #read(request: Omit<ReadRequest, 'held' | 'signal'>): Read {
    const held: Held = { size: this.#versions.size, version: (id) => this.#versions.get(id) ?? Number.NaN }
    const { signal } = new AbortController()
    return new Read(this.#crm.events.read({ ...request, held, signal }), this.#versions)
  }
}
