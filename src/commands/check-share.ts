import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { Configuration } from '../config/configuration.ts'
import { isLoopbackStore, keysIn } from '../config/share.ts'
import { systemTime } from '../replica/time.ts'
import { TOO_LATE, within } from '../replica/waiting.ts'
import { NO_BODY } from '../share/entries.ts'
import { type RedisConnection, RedisStore } from '../share/redis/redis-store.ts'
import { Signing } from '../share/signing.ts'
import type { StoredEntry } from '../share/store.ts'
import type { ShareSettings } from './share.ts'
import { sharedScope } from './base.ts'

export interface StoreChecked {
  /** What the store is, such as `Redis 7.0.15`; null where it did not say. */
  readonly server: string | null
  /** What keeps instances from sharing. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

const PATIENCE_MS = 5000
const PROBE = 'probe'
const LEAST_VERSION = '6.2'

/** Whether the store of the `share` section can be used with the rights that are given there: each is tried on keys that are gone again afterwards. `recordBytes`: what the CRM's records take. */
export async function checkShare(
  settings: ShareSettings,
  configuration: Configuration,
  recordBytes: number,
): Promise<StoreChecked> {
  const { url, ca, name } = settings
  const store = new RedisStore({ url, ca, name }, sharedScope(configuration))
  const probing = new RedisStore({ url, ca, name, isProbe: true }, `check-${randomBytes(6).toString('hex')}`)
  const open: RedisConnection[] = []
  try {
    const asked = Promise.all([store.connect(), probing.connect()]).then(async ([connection, probe]) => {
      open.push(connection, probe)
      const [info, others] = [await connection.info(), await connection.otherScopes()]
      // What a replica refuses says less than that it is one.
      const problems = problemsOf(info)
      if (problems.length === 0) {
        await tryRights(probe)
        problems.push(...signatureProblems(await connection.top(), settings, sharedScope(configuration)))
      }
      return { server: serverOf(info), problems, warnings: warningsOf(settings, info, others, recordBytes) }
    })
    const checked = await within(systemTime, PATIENCE_MS, asked)
    if (checked === TOO_LATE) throw new Error(`the store did not answer within ${PATIENCE_MS / 1000} s`)
    return checked
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'the connection failed'
    return { server: null, problems: [`share.url: ${why}`], warnings: [] }
  } finally {
    for (const connection of open) connection.destroy()
  }
}

/** Who signs by another key than the log takes no part: it neither believes the others, nor they it. */
function signatureProblems(top: StoredEntry | null, { key }: ShareSettings, scope: string): readonly string[] {
  if (top === null) return []
  const { id, h, b, s } = top
  if (new Signing(scope, keysIn(key?.reveal() ?? '') ?? []).believes(s, 'log', id, h, b ?? NO_BODY)) return []
  if (key === null)
    return ['share.key is not set, and the other instances sign what they write: give this one their key']
  const theirs =
    s === null ? 'the other instances sign nothing' : 'it is not the key that the other instances sign with'
  return [`share.key: ${theirs}: all must have the same`]
}

/** Every command that an instance uses, once. */
async function tryRights(probe: RedisConnection): Promise<void> {
  try {
    await probe.append({ id: '1-1', h: '{}', b: null, s: null }, true)
    await probe.readAfter('0-0', 1)
    await probe.readFrom('1-1', 1)
    await probe.top()
    await probe.trimBefore('1-1')
    await probe.writeMark(PROBE, '{}')
    await probe.readMarks()
    await probe.dropMarks([PROBE])
    await probe.putBlob('base', Buffer.from('{}'))
    await probe.getBlob('base')
    await probe.countBlobs(['base'])
    await probe.dropBlobs(['base'])
    await probe.dropLog()
  } finally {
    await probe.cleanUp([PROBE])
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
    problems.push(`share.url: the store is of version ${version}, and ${LEAST_VERSION} or later is needed`)
  }
  if (info.get('role') === 'slave') {
    problems.push(`share.url: this is a replica of ${info.get('master_host') ?? 'another'}; name the primary`)
  }
  return problems
}

function warningsOf(
  settings: ShareSettings,
  info: ReadonlyMap<string, string>,
  others: readonly string[],
  recordBytes: number,
): readonly string[] {
  const warnings: string[] = []
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (policy.startsWith('allkeys-')) {
    warnings.push(
      `share.url: the store's maxmemory-policy is ${policy}: it may throw the base away; noeviction does not`,
    )
  }
  const most = Number(info.get('maxmemory') ?? 0)
  const room = most - Number(info.get('used_memory') ?? 0)
  if (most > 0 && room < recordBytes) {
    const wanted = `${megabytes(recordBytes)} MB, as much as the records take`
    warnings.push(`share.url: the store has room for ${megabytes(Math.max(0, room))} MB: give it ${wanted}`)
  }
  for (const scope of others) {
    const why = 'another release, CRM or mapping; within a roll-out that is as it should be'
    warnings.push(`share.name: ${settings.name} is in use for the scope ${scope} too: ${why}`)
  }
  if (settings.key === null && !isLoopbackStore(settings)) {
    warnings.push('share.key is not set: whoever can write to the store decides what is served')
  }
  return warnings
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
