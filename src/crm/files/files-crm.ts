// The files connector: two lists in the files of a directory, or on web servers. A FileStream reads a file in full when
// it has changed, wherever its FilePlace is: local-file.ts, or web-file.ts with download.ts. A parser for each format
// (read-list-file.ts) turns bytes into rows. A JSON row whose bytes have not changed is not parsed again (json-rows.ts).

import type { CrmSettings } from '../../config/configuration.ts'
import { type WebFile, fileNamed } from '../../config/crm/sources.ts'
import type { ListName } from '../../domain/field.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Crm, ListSource } from '../../sync/port.ts'
import { listSource } from '../connector/connector-crm.ts'
import { type ConnectorContext, PLENTY, listContexts } from '../kit/crm-limits.ts'
import { type RowKind, EVENT_ROWS, VENUE_ROWS } from '../mapping/map-row.ts'
import type { OpenHttpClient } from '../web/http-client.ts'
import { type FilePlace, FileStream } from './file-stream.ts'
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
  const { idNamespace, timeZone: zone, maxFileAgeMs } = settings
  // The configuration requires a directory, unless both lists have a URL.
  const directory = settings.directory ?? '.'
  let closed = false
  const isClosed = (): boolean => closed
  const contexts = listContexts(context)
  const placeOf = (list: ListFile): FilePlace => {
    const url = webFileOf(settings, list.name)
    if (url !== null && webFiles === null) throw new Error('a URL needs a client')
    if (url !== null && webFiles !== null) return webFiles.place(url)
    const { candidates, isMapped } = list
    return new LocalFile({ directory, candidates, isMapped, descriptors, time, limits })
  }
  const lists = {
    events: listFile(EVENT_ROWS.table, settings, contexts.events),
    venues: listFile(VENUE_ROWS.table, settings, contexts.venues),
  }
  const places = { events: placeOf(lists.events), venues: placeOf(lists.venues) }
  const from = {
    events: fileNamed(settings.events.block, 'events'),
    venues: fileNamed(settings.venues.block, 'venues'),
  }
  const sourceOf = <Item extends { readonly Id: Guid }>(kind: RowKind<Item>): ListSource<Item> => {
    const { list: name } = kind.table
    const list = lists[name]
    const stream = new FileStream<Item>({ time, limits, observe, list, place: places[name], maxFileAgeMs, isClosed })
    const parts = { idNamespace, zone, from, texts: list.texts, ...contexts[name] }
    return listSource({ time, limits, observe, kind, stream, parts, readsTickets: false })
  }
  return {
    events: sourceOf(EVENT_ROWS),
    venues: sourceOf(VENUE_ROWS),
    async examine() {
      const asked = [await places.events.examine(), await places.venues.examine()]
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
