import type { Time } from '../time/time.ts'
import { sleep, TIMED_OUT, withTimeout } from '../time/waiting.ts'

/** A connection by which logs under the same name can be found. */
export interface OtherLogsConnection {
  /** By name, the id of the last entry. */
  otherLogs(): Promise<ReadonlyMap<string, string>>
  destroy(): void
}

const LOOK_EVERY_MS = 10_000
const LIMIT_MS = 5000
const LOOK_HEARTBEATS = 2

/** The logs under the same name that somebody leads: those whose last entry is another after two heartbeats. */
export async function otherLogsInUse(
  connection: OtherLogsConnection,
  time: Time,
  heartbeatMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const before = await connection.otherLogs()
  if (before.size === 0) return []
  await sleep(LOOK_HEARTBEATS * heartbeatMs, time, signal)
  const after = await connection.otherLogs()
  return [...after].flatMap(([name, top]) => (before.has(name) && before.get(name) !== top ? [name] : [])).toSorted()
}

/** Why a log with such a name is another one than `own`. */
export function whyOtherLog(name: string, own: string): string {
  const [fingerprint] = own.split('-')
  return name.split('-')[0] === fingerprint
    ? 'another cluster.key; give all instances the same'
    : 'another release, CRM or mapping; within a roll-out that is as it should be'
}

export interface OtherLogsOptions {
  readonly connect: () => Promise<OtherLogsConnection>
  readonly time: Time
  readonly heartbeatMs: () => number
  /** Called if they are others than before. */
  readonly tell: (names: readonly string[]) => void
}

/** Looks for other logs now and then, on a connection of its own: whatever lies there holds nothing else up. */
export class OtherLogs {
  names: readonly string[] = []
  readonly #options: OtherLogsOptions

  constructor(options: OtherLogsOptions) {
    this.#options = options
  }

  async run(signal: AbortSignal): Promise<void> {
    const { time, tell } = this.#options
    while (!signal.aborted) {
      const names = await this.#look(signal)
      if (names !== null && names.join() !== this.names.join()) {
        this.names = names
        tell(names)
      }
      await sleep(LOOK_EVERY_MS, time, signal)
    }
  }

  /** Null if the store does not say. */
  async #look(signal: AbortSignal): Promise<readonly string[] | null> {
    const { connect, time, heartbeatMs } = this.#options
    const connecting = connect()
    try {
      const connection = await withTimeout(time, LIMIT_MS, connecting, signal)
      if (connection === TIMED_OUT) return null
      const heartbeat = heartbeatMs()
      const limitMs = LIMIT_MS + LOOK_HEARTBEATS * heartbeat
      const found = await withTimeout(time, limitMs, otherLogsInUse(connection, time, heartbeat, signal), signal)
      return found === TIMED_OUT || signal.aborted ? null : found
    } catch {
      return null
    } finally {
      connecting.then((connection) => connection.destroy()).catch(() => {})
    }
  }
}
