import { type Crm, failed } from '../../sync/port.ts'
import { type ConnectorSettings, connectorCrm } from '../connector/connector-crm.ts'
import type { Connector } from '../connector/marquee-connector.d.ts'
import type { RowHost } from '../connector/row-host.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { type OpenHttpClient, trustingHttpClient } from '../web/http-client.ts'
import { ConnectorRun } from './connector-run.ts'
import { GivenSettings, type SettingValues } from './given-settings.ts'
import type { Secret } from '../../domain/secret.ts'

export interface ShippedSettings extends ConnectorSettings {
  readonly kind: string
  readonly proxy: Secret | null
  readonly ca: string | null
  readonly allowInsecure: boolean
}

export interface ShippedContext extends ConnectorContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly openHttpClient: OpenHttpClient
}

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
  const { kind, proxy, ca } = settings
  const { limits, time, observe } = context
  const web = trustingHttpClient(openHttpClient, ca, { configured: proxy?.reveal() ?? null, env })
  const given = new GivenSettings(values)
  const run = ConnectorRun.start(connector, {
    name: kind,
    settings: given.sent,
    web,
    limits,
    allowInsecure: settings.allowInsecure,
    time,
    onWait(forMs, why) {
      observe({ kind: 'crm-paused', why, untilMs: time.now().wallMs + forMs })
      if (forMs < NOTED_WAIT_MS) return
      observe({ kind: 'crm-noticed', message: `${kind}: requests wait for ${Math.ceil(forMs / 1000)} s: ${why}` })
    },
  })
  if (typeof run === 'string') throw new Error(`the connector for ${kind} is wrong: ${run}`)
  return connectorCrm(
    shippedHost(kind, run, given, () => web.close()),
    settings,
    context,
  )
}

const NOTED_WAIT_MS = 10_000

function shippedHost(name: string, run: ConnectorRun, given: GivenSettings, close: () => void): RowHost {
  return {
    name,
    ready: () => Promise.resolve(run.outline),
    async *rows(list, way, argument, signal) {
      const frames = run.rows(list, way, argument, signal)
      let isOver = false
      try {
        let next = await frames.next()
        for (; next.done !== true; next = await frames.next()) {
          const { rows, ...rest } = next.value
          yield { ...rest, rows: rows.map((row) => Buffer.from(row)) }
        }
        isOver = true
        const ended = next.value
        if (ended.ok) return ended
        const { kind, message, retryAfterMs } = ended.failure
        return failed(kind, given.shown(message), retryAfterMs)
      } finally {
        if (!isOver) await frames.return({ ok: true, cursor: null })
      }
    },
    async refreshSecrets() {
      if (!(await given.refresh())) return false
      run.take(given.sent)
      return true
    },
    get rereadNote() {
      return given.rereadNote
    },
    onHint(list, callback) {
      const watching = new AbortController()
      run.watch(list, callback, watching.signal)
      return () => watching.abort()
    },
    async close() {
      close()
    },
  }
}
