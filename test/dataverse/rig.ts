import { ListMaker } from '../../src/records/row-records.ts'
import { Secret } from '../../src/domain/secret.ts'
import type { SecretSource } from '../../src/domain/secret.ts'
import type { CrmSettings } from '../../src/config/configuration.ts'
import { openShipped } from '../../src/crm/open-shipped.ts'
import { openZone } from '../../src/domain/zone.ts'
import { Formatter } from '../../src/formats/format.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { Crm } from '../../src/sync/port.ts'
import { Replica } from '../../src/sync/replica.ts'
import type { RefreshSettings } from '../../src/sync/served-list.ts'
import type { Time } from '../../src/time/time.ts'
import { systemTime } from '../../src/time/time.ts'
import { openHttpClient } from '../../src/runtime/outgoing.ts'
import type { StandIn } from './stand-in.ts'

export interface Rig {
  readonly crm: Crm
  readonly replica: Replica
  readonly observations: Observation[]
}

export interface RigOptions {
  readonly settings?: Partial<CrmSettings<'dataverse'>>
  readonly timeoutMs?: number
  readonly freshness?: Partial<RefreshSettings>
  readonly env?: Readonly<Record<string, string>>
  readonly time?: Time
  readonly secret?: SecretSource & { readonly text: string }
}

/** A connector and a replica that read the stand-in; nothing runs until it is told to. */
export async function rigOf(standIn: StandIn, options: RigOptions = {}): Promise<Rig> {
  const { directory, origin } = standIn
  const { time = systemTime, timeoutMs = 30_000, env = {} } = options
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const london = openZone('Europe/London')
  if (london === null) throw new Error('no zone')
  const source = options.secret ?? { text: directory.secret, name: 'the environment variable SECRET', reread: null }
  const settings: CrmSettings<'dataverse'> = {
    kind: 'dataverse',
    url: origin,
    allowInsecure: false,
    tenant: directory.tenant,
    clientId: directory.clientId,
    clientSecret: new Secret(source.text, source),
    authority: origin,
    language: null,
    proxy: null,
    ca: null,
    requestTimeoutMs: null,
    availability: false,
    timeZone: london,
    events: { from: 'msevtmgt_events', fields: {} },
    venues: { from: 'msevtmgt_venues', fields: {} },
    shaping: () => ({}),
    idNames: () => null,
    isLowestPrice: () => false,
    ...options.settings,
  }
  const freshness: RefreshSettings = {
    maxAgeMs: 30_000,
    refreshEveryMs: 5000,
    fullReadEveryMs: 900_000,
    staleIfErrorMs: 0,
    shrinkGuardMs: 86_400_000,
    ...options.freshness,
  }
  const context = {
    showIn: london,
    limits: () => ({ requestTimeoutMs: timeoutMs, maxAgeMs: freshness.maxAgeMs }),
    time,
    observe,
    openHttpClient,
    env,
  }
  const crm = await openShipped(settings, context)
  const replica = new Replica({
    crm,
    lists: new ListMaker(
      new Formatter(() => ({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } })),
    ).make(),
    settings: () => freshness,
    limits: () => ({ memoryBytes: 2e9 }),
    time,
    observe,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  })
  return { crm, replica, observations }
}
