import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { type ClusterSettings, type Configuration, isLoopbackStore } from '../config/configuration.ts'
import type { Crm } from '../sync/port.ts'
import { systemTime } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'
import { type RedisConnection, RedisStore } from '../cluster/redis/redis-store.ts'
import { heartbeatMsOf, logTrouble, SEE_WHO_WRITES } from '../cluster/cluster.ts'
import { LOOK_HEARTBEATS, Signing, logNameOf, whyOtherLog } from '../cluster/entries.ts'
import { dataFingerprint } from '../snapshot/snapshot-keeper.ts'

export interface StoreChecked {
  /** The store's name and version, for example `Redis 7.0.15`; `null` if it did not say. */
  readonly server: string | null
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

const PATIENCE_MS = 5000
/** How long `check` waits for a heartbeat. A log with rarer heartbeats looks unused. */
const LONGEST_HEARTBEAT_MS = 1000
const PROBE = 'probe'
const PROBED = ['log', 'nonces', 'snapshot']
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
  const { url, ca, name, key } = settings
  const fingerprint = dataFingerprint(configuration, crm) ?? randomBytes(6).toString('hex')
  const logName = logNameOf(fingerprint, key?.reveal() ?? null)
  const store = new RedisStore({ url, ca, name }, logName)
  const probing = new RedisStore({ url, ca, name, isProbe: true }, `check-${randomBytes(6).toString('hex')}`)
  const open: RedisConnection[] = []
  try {
    const asked = Promise.all([store.connect(), probing.connect()]).then(async ([connection, probe]) => {
      open.push(connection, probe)
      const info = await connection.info()
      // If the store is a replica, that explains why it refuses commands.
      const problems = problemsOf(info)
      if (problems.length === 0) await tryRights(probe)
      return { connection, info, problems }
    })
    const checked = await withTimeout(systemTime, PATIENCE_MS, asked)
    if (checked === TIMED_OUT) throw new Error(`the store did not answer within ${PATIENCE_MS / 1000} s`)
    const { connection, info, problems } = checked
    const warnings = warningsOf(settings, info, recordBytes)
    if (problems.length > 0) return { server: serverOf(info), problems, warnings }
    const usedMs = Math.min(LONGEST_HEARTBEAT_MS, heartbeatMsOf(settings.heartbeatMs, configuration.freshness.maxAgeMs))
    const signing = new Signing(fingerprint, key?.reveal() ?? null)
    const trouble = await withTimeout(systemTime, PATIENCE_MS, logTrouble(connection, signing, usedMs))
    const late = `the log could not be read within ${PATIENCE_MS / 1000} s. ${SEE_WHO_WRITES}`
    if (trouble !== null) warnings.push(`cluster.name: ${trouble === TIMED_OUT ? late : trouble}`)
    if (trouble === TIMED_OUT) return { server: serverOf(info), problems, warnings }
    const looked = connection.otherLogsInUse(LOOK_HEARTBEATS * usedMs)
    const others = await withTimeout(systemTime, PATIENCE_MS, looked)
    for (const other of others === TIMED_OUT ? [] : others) {
      warnings.push(`cluster.name: ${name} is in use by the log ${other} too: ${whyOtherLog(other, logName)}`)
    }
    return { server: serverOf(info), problems, warnings }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'the connection failed'
    return { server: null, problems: [`cluster.url: ${why}`], warnings: [] }
  } finally {
    for (const connection of open) connection.destroy()
  }
}

/** Runs every command that an instance uses, once. */
async function tryRights(probe: RedisConnection): Promise<void> {
  try {
    await probe.append({ id: '1-1', h: '{}', b: null, s: null }, true)
    await probe.readAfter('0-0', 1, 16)
    await probe.readFrom('1-1', 1)
    await probe.top()
    await probe.trimBefore('1-1')
    await probe.writeField('nonces', PROBE, '{}')
    await probe.readFields('nonces', 99)
    await probe.dropFields('nonces', [PROBE])
    await probe.putBlob('snapshot', Buffer.from('{}'))
    await probe.getBlob('snapshot')
    await probe.countBlobs(['snapshot'])
    await probe.drop(PROBED)
  } catch (cause) {
    // The first refusal is reported, not that of this tidying.
    await probe.drop(PROBED).catch(() => {})
    throw cause
  }
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
    warnings.push(
      `cluster.url: the store's maxmemory-policy is ${policy}, which may evict the snapshot; set it to noeviction`,
    )
  }
  const most = Number(info.get('maxmemory') ?? 0)
  const room = most - Number(info.get('used_memory') ?? 0)
  if (most > 0 && room < recordBytes) {
    const wanted = `${megabytes(recordBytes)} MB, as much as the records take`
    warnings.push(`cluster.url: the store has room for ${megabytes(Math.max(0, room))} MB: give it ${wanted}`)
  }
  if (settings.key === null && !isLoopbackStore(settings)) {
    warnings.push('cluster.key is not set: anyone who can write to the store can change what is served')
  }
  return warnings
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
