import { randomBytes } from 'node:crypto'
import { type ClusterSettings, type Configuration, isLoopbackStore } from '../config/configuration.ts'
import type { Crm } from '../sync/port.ts'
import { systemTime } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'
import { type RedisConnection, type RedisSettings, RedisStore } from '../cluster/redis/redis-store.ts'
import { heartbeatMsOf } from '../cluster/cluster.ts'
import { dataFingerprint } from '../snapshot/data-fingerprint.ts'

export interface StoreChecked {
  /** The store's name and version, for example `Redis 7.0.15`; `null` if it did not say. */
  readonly server: string | null
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

const PATIENCE_MS = 5000
/** How long `check` waits for a heartbeat of another scope. */
const LONGEST_HEARTBEAT_MS = 1000
const LEAST_VERSION = '6.2'

/**
 * Checks whether the cluster's store can be used, by trying each right on temporary keys.
 *
 * @param recordBytes the memory that the CRM's records take
 */
export async function checkCluster(
  settings: ClusterSettings,
  configuration: Configuration,
  crm: Pick<Crm, 'mapping'>,
  recordBytes: number,
): Promise<StoreChecked> {
  const scope = dataFingerprint(configuration, crm) ?? ''
  const { url, ca, name, sentinel } = settings
  const store: RedisSettings = { url, ca, name, sentinel }
  const open: RedisConnection[] = []
  try {
    const answer = new RedisStore(store, `check-${randomBytes(6).toString('hex')}`).connect().then(async (probe) => {
      open.push(probe)
      const info = await probe.info()
      // If the store is a replica, that explains why it refuses commands.
      const problems = problemsOf(info)
      if (problems.length === 0) problems.push(...(await missingRights(probe)))
      return { probe, info, problems }
    })
    const checked = await withTimeout(systemTime, PATIENCE_MS, answer)
    if (checked === TIMED_OUT) throw new Error(`the store did not answer within ${PATIENCE_MS / 1000} s`)
    const { probe, info, problems } = checked
    const warnings = warningsOf(settings, info, recordBytes)
    const usedMs = Math.min(LONGEST_HEARTBEAT_MS, heartbeatMsOf(settings.heartbeatMs, configuration.freshness.maxAgeMs))
    const used =
      problems.length > 0 ? false : await withTimeout(systemTime, PATIENCE_MS, isShared(probe, scope, usedMs))
    if (used === true) {
      warnings.push(
        `cluster.name: another configuration or release is in use under the name ${name}, which is normal during a roll-out; its leader reads the CRM too`,
      )
    }
    return { server: serverOf(info), problems, warnings }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'the connection failed'
    return { server: null, problems: [`cluster.url: ${why}`], warnings: [] }
  } finally {
    for (const connection of open) connection.destroy()
  }
}

/** Returns true if instances of another scope write under this name. */
async function isShared(connection: RedisConnection, scope: string, usedMs: number): Promise<boolean> {
  const before = await connection.otherScopes(scope)
  if (before.size === 0) return false
  await new Promise((resolve) => setTimeout(resolve, 2 * usedMs))
  const after = await connection.otherScopes(scope)
  return [...after].some(([name, { token, seq }]) => {
    const { token: was = '', seq: at = 0 } = before.get(name) ?? {}
    return token !== was || seq !== at
  })
}

/** Tries what an instance does, and names all rights that it lacks. */
async function missingRights(probe: RedisConnection): Promise<readonly string[]> {
  const refused = await probe.refusedRights()
  await probe.remove().catch(() => {})
  return refused.length === 0
    ? []
    : [`cluster.url: the user of the store lacks rights: grant it ${refused.join(' ')} on the keys of cluster.name`]
}

function serverOf(info: ReadonlyMap<string, string>): string {
  const valkey = info.get('valkey_version')
  return valkey === undefined ? `Redis ${info.get('redis_version') ?? ''}` : `Valkey ${valkey}`
}

function problemsOf(info: ReadonlyMap<string, string>): string[] {
  const problems: string[] = []
  const version = info.get('redis_version') ?? ''
  if (version.localeCompare(LEAST_VERSION, 'en', { numeric: true }) < 0) {
    problems.push(`cluster.url: the store has version ${version}; ${LEAST_VERSION} or later is required`)
  }
  if (info.get('role') === 'slave') {
    problems.push(`cluster.url: this is a replica of ${info.get('master_host') ?? 'another'}; name the primary`)
  }
  return problems
}

function warningsOf(settings: ClusterSettings, info: ReadonlyMap<string, string>, recordBytes: number): string[] {
  const warnings: string[] = []
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  // All keys of Marquee expire, so the volatile policies evict them too.
  if (policy !== 'noeviction') {
    warnings.push(`cluster.url: the store's maxmemory-policy is ${policy}, which may evict rows; set it to noeviction`)
  }
  const most = Number(info.get('maxmemory') ?? 0)
  const room = most - Number(info.get('used_memory') ?? 0)
  if (most > 0 && room < recordBytes) {
    const wanted = `${megabytes(recordBytes)} MB, as much as the records take`
    warnings.push(`cluster.url: the store has room for ${megabytes(Math.max(0, room))} MB: give it ${wanted}`)
  }
  if (settings.url.reveal().startsWith('redis:') && !isLoopbackStore(settings)) {
    warnings.push(
      'cluster.url: the store is on another machine and is used without TLS: who listens in can read and change what is served; use rediss:',
    )
  }
  return warnings
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
