import type { EventRecord } from '../domain/event.ts'
import { ZERO } from '../domain/number.ts'
import type { RecordList } from '../records/record-list.ts'

/** The most events examined for a price. */
const MOST_LOOKED_AT = 1000
/** The most rows examined to find those events: a list may withhold nearly all of its rows, and a request waits. */
const MOST_ROWS = 10_000

/**
 * Checks if held events have prices, for a process that has not read the CRM itself. An event is called free only if
 * some other event has a price.
 */
export class HeldPrices {
  #list: RecordList<EventRecord> | null = null
  #changes = 0
  #hasPrice = false

  heldBy(list: RecordList<EventRecord>): boolean {
    if (this.#list === list && (this.#hasPrice || this.#changes === list.changes)) return this.#hasPrice
    this.#list = list
    this.#changes = list.changes
    this.#hasPrice = pricedIn(list)
    return this.#hasPrice
  }
}

function pricedIn(list: RecordList<EventRecord>): boolean {
  let looked = 0
  let rows = 0
  for (const row of list.rows()) {
    if (++rows > MOST_ROWS) return false
    if (!list.isServed(row)) continue
    if (list.get(list.idOf(row))?.Price !== ZERO) return true
    if (++looked >= MOST_LOOKED_AT) return false
  }
  return false
}
