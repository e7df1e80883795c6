// The files connector: two lists in the files of a directory, or on web servers. A FileList reads a file in full when it
// has changed, wherever its FilePlace is: local-file.ts, or web-file.ts with download.ts. A parser for each format
// (read-list-file.ts) turns bytes into rows, and list-file.ts turns rows into changes. A JSON row whose bytes have not
// changed is not parsed again (json-rows.ts).

import type { CrmSettings } from '../../config/configuration.ts'
import type { WebFile } from '../../config/crm/sources.ts'
import type { ListName } from '../../domain/field.ts'
import type { Crm } from '../../sync/port.ts'
import { type ConnectorContext, PLENTY, listContexts } from '../kit/crm-limits.ts'
import { EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import type { OpenHttpClient } from '../web/http-client.ts'
import { FileList } from './file-list.ts'
import { type ListFile, listFile } from './list-file.ts'
import { LocalFile } from './local-file.ts'
import type { WebFiles, WebFilesSettings } from './web-file.ts'

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
  const shared = { time, limits, observe, maxFileAgeMs, isClosed: () => closed }
  const contexts = listContexts(context)
  const sourceOf = <Item>(list: ListFile<Item>): FileList<Item> => {
    const url = webFileOf(settings, list.name)
    if (url !== null && webFiles === null) throw new Error('a URL needs a client')
    const { candidates, isMapped } = list
    const place =
      url === null || webFiles === null
        ? new LocalFile({ directory, candidates, isMapped, descriptors, time, limits })
        : webFiles.place(url)
    return new FileList({ ...shared, list, place })
  }
  const sources = {
    events: sourceOf(listFile(EVENT_ROWS, settings, contexts.events)),
    venues: sourceOf(listFile(VENUE_ROWS, settings, contexts.venues)),
  }
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
  context: Omit<WebFilesSettings, 'openHttpClient' | 'proxy' | 'ca'>,
  loadWeb: () => Promise<OpenHttpClient>,
): Promise<WebFiles | null> {
  if (webFileOf(settings, 'events') === null && webFileOf(settings, 'venues') === null) return null
  const { WebFiles } = await import('./web-file.ts')
  const { proxy, ca } = settings
  const { time, env, limits } = context
  return new WebFiles({ time, env, limits, proxy, ca, openHttpClient: await loadWeb() })
}

function webFileOf(settings: Pick<CrmSettings<'files'>, 'events' | 'venues'>, list: ListName): WebFile | null {
  const from = settings[list].block?.from ?? null
  return from !== null && 'url' in from ? from : null
}
