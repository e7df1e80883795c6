// The CRM connectors. In: the settings of one kind of CRM. Out: a Crm, with a source for each list, which reads pages
// of changes (sync/port.ts). connector/ makes them of a connector's rows, whatever its kind. Files are read by streams of
// their own (files/file-stream.ts); all others are written against connector/marquee-connector.d.ts.

import type { CrmSettings } from '../config/configuration.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { Observe, Outcome } from '../observe/observation.ts'
import type { Crm, PageStream, ListSource } from '../sync/port.ts'
import { htmlReader } from './mapping/list-setting.ts'
import type { ConnectorContext } from './kit/crm-limits.ts'
import type { OpenHttpClient } from './web/http-client.ts'
import { secretsIn, tracedClient } from './web/trace-requests.ts'

export interface CrmContext extends ConnectorContext {
  /** Loads the runtime's HTTP client, which not every CRM needs. */
  readonly loadWeb: () => Promise<OpenHttpClient>
  readonly env: Readonly<Record<string, string | undefined>>
}

export async function openCrm(settings: CrmSettings, context: CrmContext): Promise<Crm> {
  const { events, venues } =
    settings.kind === 'files' ? { events: settings.events.block, venues: settings.venues.block } : settings
  const html = await htmlReader([events ?? {}, venues ?? {}])
  const { trace, loadWeb, suspicions } = context
  const loadTraced = async (): Promise<OpenHttpClient> => {
    const openHttpClient = await loadWeb()
    return trace === undefined ? openHttpClient : tracedClient(openHttpClient, () => secretsIn(settings), trace)
  }
  const crm = await open(settings, { ...context, ...html, loadWeb: loadTraced })
  if (suspicions !== undefined) crm.events.readsPrice = () => suspicions.events.readsPrice
  countReads(crm.events, context.observe)
  countReads(crm.venues, context.observe)
  return crm
}

/**
 * Opens the connector, imported on demand: start-up loads no other CRM's driver. A new CRM is a folder beside this file
 * and a case here.
 */
async function open(settings: CrmSettings, { loadWeb, env, ...shared }: CrmContext): Promise<Crm> {
  switch (settings.kind) {
    case 'files': {
      const { openFilesCrm, openWebFiles } = await import('./files/files-crm.ts')
      const webFiles = await openWebFiles(settings, { ...shared, env }, loadWeb)
      return openFilesCrm(settings, { ...shared, webFiles })
    }
    case 'postgres': {
      const { openPostgresCrm } = await import('./postgres/postgres-crm.ts')
      return openPostgresCrm(settings, shared)
    }
    case 'dataverse':
    case 'odoo':
    case 'salesforce':
    case 'civicrm':
    case 'http': {
      const { openShipped } = await import('./open-shipped.ts')
      const openHttpClient = await loadWeb()
      return openShipped(settings, { ...shared, env, openHttpClient })
    }
    case 'module': {
      const { openModuleCrm } = await import('./child/module-crm.ts')
      return openModuleCrm(settings, { ...shared, env })
    }
    case 'command': {
      const { openCommandCrm } = await import('./child/command-crm.ts')
      return openCommandCrm(settings, { ...shared, env })
    }
    default:
      return unreachable(settings)
  }
}

/** Reports each read of the source as one exchange with the CRM. */
export function countReads<Item>(source: ListSource<Item>, observe: Observe): void {
  const read = source.read.bind(source)
  source.read = async function* (request): PageStream<Item> {
    // A read that exceeds its time limit is abandoned and never returns.
    let outcome: Outcome = 'timeout'
    try {
      const ended = yield* read(request)
      outcome = ended.ok ? 'ok' : ended.failure.kind
      return ended
    } catch (cause) {
      outcome = 'internal'
      throw cause
    } finally {
      observe({ kind: 'crm-request', outcome })
    }
  }
}
