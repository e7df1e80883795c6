// The files connector: two lists in the files of a directory, or on web servers. A FileSource reads a file in full when
// it has changed, and a WebSource the file of a URL (download.ts). A parser for each format (read-list-file.ts) turns
// bytes into rows, and list-file.ts turns rows into changes. A JSON row whose bytes have not changed is not parsed
// again (json-rows.ts).

import type { CrmSettings } from '../../config/configuration.ts'
import type { WebFile } from '../../config/crm/sources.ts'
import type { ListName } from '../../domain/field.ts'
import type { Crm } from '../../sync/port.ts'
import { type ConnectorContext, PLENTY, listContexts } from '../kit/crm-limits.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import type { OpenHttpClient } from '../web/http-client.ts'
import { FileSource } from './file-source.ts'
import { type ListFile, listFile } from './list-file.ts'
import type { VersionedFile } from './versioned-file.ts'
import type { WebFiles, WebFilesSettings } from './web-source.ts'

export interface FilesContext extends ConnectorContext {
  /** The reader of lists that have a URL; `null` if none has. */
  readonly webFiles?: WebFiles | null
}

type Settings = Pick<CrmSettings<'files'>, 'events' | 'venues' | 'idNamespace' | 'timeZone' | 'directory'> &
  Partial<Pick<CrmSettings<'files'>, 'kind' | 'maxFileAgeMs'>>

export function openFilesCrm(settings: Settings, context: FilesContext): Crm {
  const { time, limits, observe, descriptors = PLENTY, webFiles = null } = context
  // The configuration requires a directory, unless both lists have a URL.
  const directory = settings.directory ?? '.'
  let closed = false
  const { maxFileAgeMs } = settings
  const shared = { time, limits, observe, directory, descriptors, maxFileAgeMs, isClosed: () => closed }
  const contexts = listContexts(context)
  const events = listFile(EVENT_ROWS, settings, contexts.events)
  const venues = listFile(VENUE_ROWS, settings, contexts.venues)
  const sourceOf = <Item>(list: ListFile<Item>): VersionedFile<Item> => {
    const url = webFileOf(settings, list.name)
    if (url === null) return new FileSource({ ...shared, list })
    if (webFiles === null) throw new Error('a URL needs a client')
    return webFiles.source(list, url)
  }
  const sources = { events: sourceOf(events), venues: sourceOf(venues) }
  return {
    ...sources,
    async examine() {
      const asked = [await sources.events.examine(), await sources.venues.examine()]
      return { problems: asked.filter((problem) => problem !== null), warnings: [] }
    },
    async close() {
      closed = true
      webFiles?.close()
    },
  }
}

/** Opens the reader of lists that have a URL; `null` if none has, so no HTTP client is loaded. */
export async function openWebFiles(
  settings: CrmSettings<'files'>,
  context: Omit<WebFilesSettings, 'openHttpClient' | 'proxy' | 'ca' | 'maxFileAgeMs'>,
  loadWeb: () => Promise<OpenHttpClient>,
): Promise<WebFiles | null> {
  if (webFileOf(settings, 'events') === null && webFileOf(settings, 'venues') === null) return null
  const { WebFiles } = await import('./web-source.ts')
  const { proxy, ca, maxFileAgeMs } = settings
  const { time, observe, env, limits } = context
  return new WebFiles({ time, observe, env, limits, proxy, ca, maxFileAgeMs, openHttpClient: await loadWeb() })
}

function webFileOf(settings: Pick<CrmSettings<'files'>, 'events' | 'venues'>, list: ListName): WebFile | null {
  const from = settings[list].block?.from ?? null
  return from !== null && 'url' in from ? from : null
}
