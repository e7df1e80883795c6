import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { renderProblem } from '../../src/config/config-problem.ts'
import { openFilesCrm, openWebFiles } from '../../src/crm/files/files-crm.ts'
import type { Change, Crm, Cursor, ReadOutcome, ServedRows, ListSource } from '../../src/sync/port.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { openHttpClient } from '../../src/runtime/outgoing.ts'
import { type Time, systemTime } from '../../src/time/time.ts'

export const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'

/** A files CRM as a configuration describes it, and a clock that a test can set forward. */
export interface Rig {
  readonly crm: Crm
  /** How far the clock is ahead of the machine's. */
  aheadMs: number
  /** What the log says. */
  readonly notices: readonly string[]
}

export interface WebRead {
  readonly outcome: ReadOutcome
  readonly changes: readonly Change<unknown>[]
  readonly cursor: Cursor | null
  /** The failure as `kind: sentence`; empty if the read succeeded. */
  readonly failure: string
  /** Why the file may be half-written; blank if nothing says so. */
  readonly unsure: string
}

/** Opens the CRM of a `crm` section in YAML. */
export async function openRig(crm: string, env: Readonly<Record<string, string>> = {}): Promise<Rig> {
  const readFile = async (path: string): Promise<Uint8Array> => new Uint8Array(await Bun.file(path).arrayBuffer())
  const loaded = await loadConfiguration({ path: '/tmp/m.yaml', text: `crm: ${crm}`, env, readFile })
  if (!loaded.ok) throw new Error(loaded.problems.map(renderProblem).join('\n'))
  const settings = loaded.configuration.crm
  if (settings.kind !== 'files') throw new Error('these are files')
  const rig = { aheadMs: 0 }
  const time: Time = {
    ...systemTime,
    now: () => ({ monotonicMs: performance.now() + rig.aheadMs, wallMs: Date.now() + rig.aheadMs }),
  }
  const limits = { requestTimeoutMs: 30_000, maxAgeMs: 30_000 }
  const notices: string[] = []
  const observe = (seen: Observation): void => {
    if (seen.kind === 'crm-noticed') notices.push(seen.message)
  }
  const shared = { time, observe, limits: () => limits }
  const webFiles = await openWebFiles(settings, { ...shared, env }, async () => (options) => openHttpClient(options))
  return Object.assign(rig, {
    notices,
    crm: openFilesCrm(settings, { ...shared, showIn: loaded.configuration.timeZone, webFiles }),
  })
}

/** Reads a list as the replica does. */
export async function readWeb(
  source: ListSource<unknown>,
  cursor: Cursor | null = null,
  served: ServedRows | null = null,
): Promise<WebRead> {
  const held = { version: () => Number.NaN, size: 0 }
  const changes: Change<unknown>[] = []
  let unsure = ''
  const reading = source.read({ kind: 'full', cursor, held, served, signal: new AbortController().signal })
  for (;;) {
    const next = await reading.next()
    if (next.done !== true) {
      changes.push(...next.value.changes)
      unsure = next.value.unsure ?? unsure
      continue
    }
    const outcome = next.value
    const failure = outcome.ok ? '' : `${outcome.failure.kind}: ${outcome.failure.message}`
    return { outcome, changes, cursor: outcome.ok ? outcome.cursor : null, failure, unsure }
  }
}
