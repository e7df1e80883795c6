// Two lists in the files of a directory. A FileSource reads a file in full when it is not what it was: bytes become rows in a
// parser for each format (file-format.ts), and rows become changes in list-file.ts. A JSON row whose bytes are those that are
// held is not parsed again (json-rows.ts).

import type { FilesSettings } from '../../config/crm/files.ts'
import type { ListName } from '../../domain/field.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Observe } from '../../observe/observation.ts'
import type { Crm } from '../../replica/port.ts'
import type { Time } from '../../replica/time.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import type { Descriptors } from '../descriptors.ts'
import { PLENTY } from '../descriptors.ts'
import { FileSource } from './file-source.ts'
import { listFile } from './list-file.ts'

export interface FilesSurroundings {
  /** What dates are shown in. */
  readonly showIn: Zone
  readonly time: Time
  readonly observe: Observe
  readonly patienceMs: number
  readonly descriptors?: Descriptors
  readonly memoryLimitBytes?: number
}

/** Two lists in the files of a directory. */
export function openFilesCrm(
  settings: FilesSettings,
  { showIn, time, observe, patienceMs, descriptors = PLENTY, memoryLimitBytes = 2e9 }: FilesSurroundings,
): Crm {
  const { directory } = settings
  let closed = false
  const told = new Set<string>()
  const onColumns = (list: ListName) => (columns: readonly string[]) => {
    const news = columns.filter((column) => !told.has(`${list}.${column}`))
    for (const column of news) told.add(`${list}.${column}`)
    if (news.length > 0) observe({ kind: 'columns-ignored', list, columns: news })
  }
  const shared = { directory, limitBytes: memoryLimitBytes, time, patienceMs, descriptors, isClosed: () => closed }
  return {
    events: new FileSource({ ...shared, list: listFile(EVENT_ROWS, settings, showIn), onColumns: onColumns('events') }),
    venues: new FileSource({ ...shared, list: listFile(VENUE_ROWS, settings, showIn), onColumns: onColumns('venues') }),
    async close() {
      closed = true
    },
  }
}
