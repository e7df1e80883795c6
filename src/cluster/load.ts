import type { ListName } from '../domain/field.ts'
import { type RecordLists, applyRowRecord } from '../records/row-records.ts'
import { type FollowedLists, wholeRows } from './followed-lists.ts'
import type { Member } from './member.ts'
import type { Session, StoreState } from './store.ts'

/** The rows that are asked for first, and the bytes that an answer should have. */
const FIRST_ROWS = 100
const MOST_ROWS = 1000
const ANSWER_BYTES = 512 * 1024

/**
 * Loads the rows of the store into new lists, beside those that are served. They change meanwhile, so all that was
 * written since `from` is applied to them before they are served. Returns `null` if they cannot be used.
 */
export async function load(member: Member, session: Session, from: StoreState): Promise<FollowedLists | null> {
  const { options } = member
  const lists = options.newLists()
  try {
    // Venues first, as everywhere.
    for (const list of ['venues', 'events'] as const) await loadList(member, session, lists, list)
  } catch (cause) {
    if (!(cause instanceof UnusableRows)) throw cause
    member.lacks = from.token
    options.observe({ kind: 'cluster-changed', what: 'rows-unusable', detail: cause.message })
    return null
  }
  const until = await session.ask((store) => store.state())
  // After a claim, the rows may have been taken away and stored anew meanwhile, some of them not loaded.
  if (until.token !== from.token || !until.isReady) return null
  const followed = member.followed(lists, from)
  followed.loaded(until)
  return followed
}

class UnusableRows extends Error {}

async function loadList(member: Member, session: Session, lists: RecordLists, list: ListName): Promise<void> {
  const { time, pause, limits } = member.options
  let [cursor, count] = ['0', FIRST_ROWS]
  do {
    const part = await session.ask((store) => store.scan(list, cursor, count))
    await member.tick(session)
    cursor = part.cursor
    let bytes = 0
    for (const row of part.rows) {
      bytes += row.length
      applyRow(lists, row, time.now().monotonicMs)
    }
    member.traffic.bytes.read += bytes
    const perRow = bytes / Math.max(1, part.rows.length)
    count = Math.max(1, Math.min(MOST_ROWS, 2 * count, Math.floor(ANSWER_BYTES / Math.max(1, perRow))))
    if (lists.events.sizeBytes + lists.venues.sizeBytes > limits().memoryBytes) {
      throw new UnusableRows('the store holds more than limits.memory allows')
    }
    await pause()
  } while (cursor !== '0')
}

function applyRow(lists: RecordLists, row: Parameters<typeof wholeRows>[1], nowMs: number): void {
  try {
    for (const record of wholeRows(lists, row)) applyRowRecord(lists, record, nowMs)
  } catch {
    throw new UnusableRows('a row in the store cannot be read')
  }
}
