import { idOf, World } from '../../test/postgres/world.ts'
import type { Workshop } from '../workshop.ts'

const WATCHED = 0
/** The interval between changes of several rows, in ms. */
const BATCH_MS = 50

/** A PostgreSQL server with this many events, set up as the documentation says, that counts its statements. */
export class PostgresCrm {
  readonly watchedId: string = idOf(WATCHED)
  readonly world: World
  readonly events: number
  /** The number of committed rounds of changes; the watched event's name ends with it. */
  rounds = 0

  private constructor(world: World, events: number) {
    this.world = world
    this.events = events
  }

  static async open(workshop: Workshop, events: number): Promise<PostgresCrm> {
    const world = await World.create({ shared_preload_libraries: 'pg_stat_statements', max_connections: '400' })
    workshop.keep({ stop: () => world.remove() })
    await world.query('CREATE EXTENSION pg_stat_statements')
    await world.query('ALTER ROLE marquee CONNECTION LIMIT -1')
    await world.fill(events)
    await world.query('VACUUM ANALYZE')
    return new PostgresCrm(world, events)
  }

  /** The `crm` section for instances; the URL is in the environment. */
  readonly section: Readonly<Record<string, unknown>> = {
    kind: 'postgres',
    url: { env: 'DATABASE_URL' },
    listen: 'marquee',
    events: { from: 'crm.public_events' },
    venues: { from: 'crm.public_venues' },
  }

  get env(): Readonly<Record<string, string>> {
    return { DATABASE_URL: this.world.url }
  }

  /** The number of statements from instances since the setup, including BEGIN and COMMIT. */
  async calls(): Promise<number> {
    const [row] = await this.world.query(`SELECT sum(calls)::int AS calls
      FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid WHERE rolname = 'marquee'`)
    return Number(row?.['calls'] ?? 0)
  }

  /** Changes this many rows a second until it is ended; each batch includes the watched row. */
  beginChanging(rowsASecond: number): { end(): Promise<void> } {
    const rows = Math.round((rowsASecond * BATCH_MS) / 1000)
    const ending = new AbortController()
    const running = (async (): Promise<void> => {
      for (let dueMs = performance.now(); !ending.signal.aborted; dueMs += BATCH_MS) {
        await Bun.sleep(Math.max(0, dueMs - performance.now()))
        await this.change(rows)
      }
    })()
    return {
      async end() {
        ending.abort()
        await running
      },
    }
  }

  /** Changes this many rows in one transaction, including the watched row. */
  async change(rows = 1): Promise<void> {
    const round = ++this.rounds
    const first = 1 + ((round * rows) % Math.max(1, this.events - rows))
    const others = Array.from({ length: rows - 1 }, (_, index) => idOf(first + index))
    await this.world.query(
      `UPDATE crm.event SET title = CASE WHEN event_id = $1 THEN $2 ELSE title END, sold = (sold + 1) % 90
       WHERE event_id = $1 OR event_id = ANY ($3)`,
      [this.watchedId, `watched ${round}`, others],
    )
  }
}
