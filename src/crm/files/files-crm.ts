import type { Zone } from '../../domain/zone.ts'
import type { Observe } from '../../observe/observation.ts'
import type { Crm } from '../../replica/port.ts'
import type { Time } from '../../replica/time.ts'
import { FileSource } from './file-source.ts'
import type { ListName } from './list-columns.ts'
import { eventsFile, venuesFile } from './list-file.ts'

export interface FilesCrmSettings {
  readonly directory: string
  /** What dates without an offset are wall times in. */
  readonly zone: Zone
  /** What dates are shown in. */
  readonly showIn: Zone
  readonly time: Time
  readonly observe: Observe
  readonly patienceMs: number
}

export interface FilesCrm extends Crm {
  /** The columns of a list's file that nothing reads, as of its last successful read. */
  ignoredColumns(list: ListName): readonly string[]
}

/** Two lists in the files of a directory. */
export function openFilesCrm({ directory, zone, showIn, time, observe, patienceMs }: FilesCrmSettings): FilesCrm {
  const zones = { wall: zone, showIn }
  let closed = false
  const ignored = new Map<ListName, readonly string[]>()
  const told = new Set<string>()
  const onColumns = (list: ListName) => (columns: readonly string[]) => {
    ignored.set(list, columns)
    const news = columns.filter((column) => !told.has(`${list}.${column}`))
    for (const column of news) told.add(`${list}.${column}`)
    if (news.length > 0) observe({ kind: 'columns-ignored', list, columns: news })
  }
  const shared = { directory, time, patienceMs, isClosed: () => closed }
  return {
    events: new FileSource({ ...shared, list: eventsFile(zones), onColumns: onColumns('events') }),
    venues: new FileSource({ ...shared, list: venuesFile(zones), onColumns: onColumns('venues') }),
    ignoredColumns: (list) => ignored.get(list) ?? [],
    async close() {
      closed = true
    },
  }
}
