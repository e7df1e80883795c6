import type { Chance } from '../model/chance.ts'
import type { RowHistory } from '../support/row-history.ts'
import type { World } from './world.ts'
import { idOf } from './world.ts'

export interface Changing {
  /** Of the events with the first so many ids. */
  readonly rows: number
  readonly chance: Chance
  readonly isOver: () => boolean
  /** Between two changes, on average. */
  readonly pauseMs?: number
}

/** Commits random changes by SQL, one after another, each told to the history before and after. */
export async function changeRows(world: World, history: RowHistory, changing: Changing): Promise<void> {
  const { rows, chance, isOver, pauseMs = 9 } = changing
  const client = await world.server.admin()
  for (let number = 1; !isOver(); number++) {
    const row = chance.below(rows)
    const id = idOf(row)
    const title = `${row} as of ${number}`
    const kind = chance.next()
    const after = kind < 0.15 ? null : title
    history.begin({ id, atMs: performance.now(), value: after })
    if (kind < 0.07) await client.query('DELETE FROM crm.event WHERE event_id = $1', [id])
    else if (kind < 0.15) await client.query('UPDATE crm.event SET on_web = false WHERE event_id = $1', [id])
    else await upsert(client, id, title, chance)
    history.end({ id, atMs: performance.now() })
    // Mostly at once, then a while.
    if (chance.happens(0.3)) await new Promise((resolve) => setTimeout(resolve, chance.span(pauseMs / 0.3)))
  }
  await client.end()
}

async function upsert(client: World['admin'], id: string, title: string, chance: Chance): Promise<void> {
  await client.query('BEGIN')
  // Now and then committed late, with a stamp that reads of changes have passed by then, or with one that is still to
  // come.
  const offset = chance.happens(0.05) ? '-10 minutes' : chance.happens(0.03) ? '10 minutes' : null
  if (offset !== null) await client.query('SET LOCAL session_replication_role = replica')
  const stamp = offset === null ? 'now()' : `now() + interval '${offset}'`
  await client.query(
    `INSERT INTO crm.event (event_id, title, starts_at, ends_at, on_web, updated_at)
     VALUES ($1, $2, now(), now(), true, ${stamp})
     ON CONFLICT (event_id) DO UPDATE SET title = $2, on_web = true, updated_at = ${stamp}`,
    [id, title],
  )
  if (chance.happens(0.1)) await new Promise((resolve) => setTimeout(resolve, chance.span(60)))
  await client.query('COMMIT')
}
