import type { ListName } from '../domain/field.ts'
import type { Observation } from '../observe/observation.ts'
import { DirtyRows } from '../records/row-records.ts'
import type { RecordLists } from '../records/row-records.ts'
import type { ResumeState } from '../sync/served-list.ts'
import type { Replica } from '../sync/replica.ts'
import type { LogPosition } from './entries.ts'
import type { FollowedLists } from './followed-lists.ts'

export interface ReplicaMaker {
  readonly newLists: () => RecordLists
  /**
   * Creates a replica that reads the CRM into these lists, resumes from a known state, and reports its observations.
   */
  readonly newReplica: (
    lists: RecordLists,
    resumeState: Readonly<Record<ListName, ResumeState>> | null,
    told: (observation: Observation) => void,
  ) => Replica
}

/**
 * Reads the CRM here, as leader or standalone, starting from the lists that were followed. Collects the changes for the
 * log.
 */
export class OwnReading {
  readonly replica: Replica
  /** The rows changed since `after`, of the lists that were read in full by then. */
  readonly dirtyRows: Partial<Record<ListName, DirtyRows>> = {}
  /** The last entry of a log that these rows include. */
  readonly after: LogPosition | null
  #note: (observation: Observation) => void = () => {}

  constructor({ newLists, newReplica }: ReplicaMaker, from: FollowedLists | null) {
    this.after = from?.position ?? null
    const resumeState = from === null ? null : { events: from.events.resumeState, venues: from.venues.resumeState }
    const lists = from?.lists ?? newLists()
    this.replica = newReplica(lists, resumeState, (observation) => this.#note(observation))
    for (const list of [lists.venues, lists.events]) {
      const { name } = list.kind
      if (this.replica[name].reader.isLoaded) this.dirtyRows[name] = new DirtyRows(list)
    }
    this.replica.start()
  }

  /** Passes further observations on, to the writer of the log. */
  reportTo(note: (observation: Observation) => void): void {
    this.#note = note
  }

  /** Starts no further reads. Changes of a running read are no longer reported. */
  end(): void {
    for (const dirtyRows of Object.values(this.dirtyRows)) dirtyRows.end()
    void this.replica.stop()
  }
}
