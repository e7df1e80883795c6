import type { ListName } from '../domain/field.ts'
import type { Observation } from '../observe/observation.ts'
import { DirtyRows } from '../records/dirty-rows.ts'
import type { RecordLists } from '../records/row-records.ts'
import type { ResumeState } from '../sync/snapshot-list.ts'
import type { Replica } from '../sync/replica.ts'
import type { LogPosition } from './entries.ts'
import type { Following } from './follower.ts'

export interface ReplicaMaker {
  readonly newLists: () => RecordLists
  /** Reads the CRM into these lists, from what was known of them, and tells what it observes. */
  readonly newReplica: (
    lists: RecordLists,
    resumeState: Readonly<Record<ListName, ResumeState>> | null,
    told: (observation: Observation) => void,
  ) => Replica
}

/** Reads the CRM here, going on from what was followed: for all, or for this instance alone. What it changes is owed to the log. */
export class OwnReading {
  readonly replica: Replica
  /** What it changed since `after`, of the lists that were read in full by then. */
  readonly dirtyRows: Partial<Record<ListName, DirtyRows>> = {}
  /** The last entry of a log that its rows include. */
  readonly after: LogPosition | null
  onTold: (observation: Observation) => void = () => {}

  constructor({ newLists, newReplica }: ReplicaMaker, from: Following | null) {
    this.after = from?.position ?? null
    const resumeState = from === null ? null : { events: from.events.resumeState, venues: from.venues.resumeState }
    const lists = from?.lists ?? newLists()
    this.replica = newReplica(lists, resumeState, (observation) => this.onTold(observation))
    for (const list of [lists.venues, lists.events]) {
      const { name } = list.kind
      if (this.replica[name].reader.isLoaded) this.dirtyRows[name] = new DirtyRows(list)
    }
    this.replica.start()
  }

  /** Begins no further read; what one under way changes still, nobody is told. */
  end(): void {
    for (const dirtyRows of Object.values(this.dirtyRows)) dirtyRows.end()
    void this.replica.stop()
  }
}
