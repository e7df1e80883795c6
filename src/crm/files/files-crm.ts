// The files connector: two lists in the files of a directory. A FileSource reads a file in full when it has changed. A
// parser
// for each format (file-format.ts) turns bytes into rows, and list-file.ts turns rows into changes. A JSON row whose
// bytes
// have not changed is not parsed again (json-rows.ts).

import type { FilesSettings } from '../../config/crm/files.ts'
import type { Crm } from '../../sync/port.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { PLENTY } from '../kit/file-descriptors.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import { listSuspicions } from '../mapping/suspicions.ts'
import { type FileLimits, FileSource } from './file-source.ts'
import { listFile } from './list-file.ts'

export type FilesContext = Omit<ConnectorContext, 'limits'> & { readonly limits: FileLimits }

export function openFilesCrm(
  settings: FilesSettings,
  { showIn, descriptors = PLENTY, suspicions = listSuspicions(), ...context }: FilesContext,
): Crm {
  const { directory } = settings
  let closed = false
  const shared = { ...context, directory, descriptors, isClosed: () => closed }
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
