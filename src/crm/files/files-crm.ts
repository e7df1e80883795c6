// Two lists in the files of a directory. A FileSource reads a file in full when it is not what it was: bytes become rows in a
// parser for each format (file-format.ts), and rows become changes in list-file.ts. A JSON row whose bytes are those that are
// held is not parsed again (json-rows.ts).

import type { FilesSettings } from '../../config/crm/files.ts'
import type { Crm } from '../../sync/port.ts'
import type { ConnectorSurroundings } from '../kit/crm-limits.ts'
import { PLENTY } from '../kit/file-descriptors.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import { listSuspicions } from '../mapping/suspicions.ts'
import { type FileLimits, FileSource } from './file-source.ts'
import { listFile } from './list-file.ts'

export type FilesSurroundings = Omit<ConnectorSurroundings, 'limits'> & { readonly limits: FileLimits }

/** Two lists in the files of a directory. */
export function openFilesCrm(
  settings: FilesSettings,
  { showIn, descriptors = PLENTY, suspicions = listSuspicions(), ...surroundings }: FilesSurroundings,
): Crm {
  const { directory } = settings
  let closed = false
  const shared = { ...surroundings, directory, descriptors, isClosed: () => closed }
  const events = listFile(EVENT_ROWS, settings, showIn, suspicions.events)
  const venues = listFile(VENUE_ROWS, settings, showIn, suspicions.venues)
  return {
    events: new FileSource({ ...shared, list: events }),
    venues: new FileSource({ ...shared, list: venues }),
    async diagnose(list) {
      const { diagnose } = await import('./diagnose.ts')
      return list === 'events' ? diagnose(directory, events) : diagnose(directory, venues)
    },
    async close() {
      closed = true
    },
  }
}
