import type { Crm, OnPause } from '../../sync/port.ts'
import { type ConnectorSettings, connectorCrm } from '../connector/connector-crm.ts'
import type { Connector } from '../connector/marquee-connector.d.ts'
import type { RowHost } from '../connector/row-host.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { type OpenHttpClient, trustingHttpClient } from '../web/http-client.ts'
import { runConnector } from './connector-run.ts'
import { GivenSettings, type SettingValues } from './given-settings.ts'
import type { Secret } from '../../domain/secret.ts'
import { Pauses } from '../kit/throttle.ts'

export interface ShippedSettings extends ConnectorSettings {
  readonly kind: string
  readonly proxy: Secret | null
  readonly ca: string | null
  readonly allowInsecure: boolean
  /** Whether rows are taken as they are, with the objects of cells/cell.ts in them. */
  readonly givesCells?: boolean
}

export interface ShippedContext extends ConnectorContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly openHttpClient: OpenHttpClient
}

/** Sentences of a connector that ships may name many columns. */
const LONG = 4000

/**
 * Opens a connector that ships with Marquee. It runs in this process, since its code is known.
 * @param values the values of the connector's own `settings`
 */
export function openShippedCrm(
  connector: Connector,
  values: SettingValues,
  settings: ShippedSettings,
  { env, openHttpClient, ...context }: ShippedContext,
): Promise<Crm> {
  const { kind, proxy, ca, allowInsecure, givesCells = false } = settings
  const { limits, time, observe } = context
  const web = trustingHttpClient(openHttpClient, ca, { configured: proxy?.reveal() ?? null, env })
  const ownSettings = new GivenSettings(values, givesCells ? LONG : undefined)
  const pauses = new Pauses()
  const onWait: OnPause = (forMs, why) => pauses.tell(forMs, ownSettings.shown(why))
  const run = runConnector(connector, {
    name: kind,
    settings: ownSettings.sent,
    web,
    limits,
    allowInsecure,
    time,
    onWait,
    givesCells,
    onNotice: (list, sentence) => observe({ kind: 'crm-noticed', message: ownSettings.shown(`${list}: ${sentence}`) }),
  })
  if (typeof run === 'string') throw new Error(`the connector for ${kind} is wrong: ${run}`)
  const host: RowHost = {
    name: kind,
    given: ownSettings,
    pauses,
    ready: () => Promise.resolve(run.outline),
    rows: run.rows,
    takeSecrets: () => run.take(ownSettings.sent),
    onHint(list, callback) {
      const watching = new AbortController()
      run.watch(list, callback, watching.signal)
      return () => watching.abort()
    },
    async close() {
      await run.close()
      web.close()
    },
  }
  return connectorCrm(host, settings, context)
}
