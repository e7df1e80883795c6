import type { Observe } from '../observe/observation.ts'
import type { Sighting } from './absence.ts'
import { countMissing, isBraked, isMuch } from './absence.ts'
import type { CrmFailure } from './port.ts'
import { failureOf } from './port.ts'
import type { RecordList } from './record-list.ts'

/** Whether it is believed that what a complete read does not mention is gone (architecture: The brake, One moment). */
export class Belief {
  /** Why the list is not believed to have got so short, until a read shows otherwise; null where it is believed. */
  braked: CrmFailure | null = null
  /** A read of several moments that missed much, and when it ended: one that begins then has to miss the same. */
  #doubted: { readonly read: Sighting; readonly endedAt: number } | null = null
  /** When the operator said that a shorter list is right, until a read of all rows has proved it; null otherwise. */
  #acceptedAt: number | null = null

  get acceptsShorter(): boolean {
    return this.#acceptedAt !== null
  }

  acceptShorter(atMs: number): void {
    this.#acceptedAt = atMs
  }

  /** Why the rows that a complete read is missing must stay; null where they may go. */
  judge<Item>(
    list: RecordList<Item>,
    read: Sighting,
    { oneMoment, brake, sinceMs, nowMs, observe }: Circumstances,
  ): CrmFailure | null {
    const { served } = list
    const { name } = list.kind
    const missing = countMissing(list, read)
    const isShort = isBraked(missing, served)
    const isHeld = brake && isShort && !this.acceptsShorter
    // A second reading has agreed before where the brake holds already.
    if (!oneMoment && isMuch(missing, served) && !(isHeld && this.braked !== null)) {
      const doubted = this.#doubted
      // One that began before the other had ended may have been cut by the same change.
      const isSecond = doubted !== null && read.begunAt >= doubted.endedAt
      if (!isSecond || isMuch(countMissing(list, read, doubted.read), served)) {
        if (isSecond || doubted === null) this.#doubted = { read, endedAt: nowMs }
        return failureOf('doubted', doubtMessage(name, missing, served, isSecond))
      }
    }
    this.#doubted = null
    if (isHeld) {
      observe({ kind: 'brake-engaged', list: name, absent: missing, served })
      return (this.braked = failureOf('braked', brakeMessage(name, missing, served)))
    }
    this.braked = null
    // A read that shows the list as it was before, still long, is not the one the operator meant.
    if (isShort || sinceMs >= (this.#acceptedAt ?? sinceMs)) this.#acceptedAt = null
    return null
  }
}

interface Circumstances {
  /** All of the read shows one state of the CRM. */
  readonly oneMoment: boolean
  readonly brake: boolean
  /** The moment that the read shows. */
  readonly sinceMs: number
  readonly nowMs: number
  readonly observe: Observe
}

function brakeMessage(list: string, missing: number, served: number): string {
  return `${missing} of ${served} ${list} are missing from the CRM's list, which is not believed until \`marquee accept\``
}

function doubtMessage(list: string, missing: number, served: number, isSecond: boolean): string {
  const what = `${missing} of ${served} ${list} are missing from the CRM's list, which may have changed while it was read`
  return isSecond
    ? `${what}: the reading before missed others, so that nothing goes until two agree`
    : `${what}: they go when a second reading agrees`
}
