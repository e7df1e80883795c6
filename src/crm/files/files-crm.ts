// Two lists in the files of a directory. A FileSource reads a file in full when it is not what it was: bytes become rows in a
// parser for each format (file-format.ts), and rows become changes in list-file.ts. A JSON row whose bytes are those that are
// held is not parsed again (json-rows.ts).

import type { FilesSettings } from '../../config/crm/files.ts'
import type { ListName } from '../../domain/field.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Observe } from '../../observe/observation.ts'
import type { Crm } from '../../replica/port.ts'
import type { Time } from '../../replica/time.ts'
import type { CrmLimits } from '../crm-limits.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import type { ListSuspicions } from '../mapping/suspicions.ts'
import { listSuspicions } from '../mapping/suspicions.ts'
import type { Descriptors } from '../descriptors.ts'
import { PLENTY } from '../descriptors.ts'
import { FileSource } from './file-source.ts'
import { listFile } from './list-file.ts'

export interface FilesSurroundings {
  /** What dates are shown in. */
  readonly showIn: Zone
  readonly time: Time
  readonly observe: Observe
  readonly limits: Pick<CrmLimits, 'requestTimeoutMs' | 'memoryBytes'>
  readonly descriptors?: Descriptors
  readonly suspicions?: ListSuspicions
}

/** Two lists in the files of a directory. */
export function openFilesCrm(
  settings: FilesSettings,
  { showIn, time, observe, limits, descriptors = PLENTY, suspicions = listSuspicions() }: FilesSurroundings,
): Crm {
  const { directory } = settings
  let closed = false
  const told = new Set<string>()
  const onColumns = (list: ListName) => (columns: readonly string[]) => {
    const news = columns.filter((column) => !told.has(`${list}.${column}`))
    for (const column of news) told.add(`${list}.${column}`)
    if (news.length > 0) observe({ kind: 'columns-ignored', list, columns: news })
  }
  const onBlankRows = (file: string, count: number): void => {
    if (count > 0) observe({ kind: 'crm-noticed', message: `${file}: ${blankRows(count)} skipped` })
  }
  const shared = { directory, time, limits, descriptors, isClosed: () => closed, onBlankRows }
  const lists = {
    events: listFile(EVENT_ROWS, settings, showIn, suspicions.events),
    venues: listFile(VENUE_ROWS, settings, showIn, suspicions.venues),
  }
  return {
    events: new FileSource({ ...shared, list: lists.events, onColumns: onColumns('events') }),
    venues: new FileSource({ ...shared, list: lists.venues, onColumns: onColumns('venues') }),
    async diagnose(list) {
      const { diagnose } = await import('./diagnose.ts')
      return list === 'events' ? diagnose(directory, lists.events) : diagnose(directory, lists.venues)
    },
    async close() {
      closed = true
    },
  }
}

function blankRows(count: number): string {
  return count === 1 ? '1 blank row is' : `${count} blank rows are`
}
