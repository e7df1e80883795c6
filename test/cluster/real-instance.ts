import type { ClusterStatus } from '../../src/operations/status.ts'
import type { Status } from '../../src/operations/status.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import type { Settings } from '../support/files-directory.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { untilListening } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'

/** One Marquee of several: a process, and how to ask it. */
export interface RealInstance {
  readonly runtime: Runtime
  readonly process: MarqueeProcess
  /** Null where nobody answers. */
  status(): Promise<Told | null>
  /** Reads other settings in its configuration, at a SIGHUP. */
  reload(settings: Settings): void
  end(): Promise<void>
}

interface Told extends Pick<Status, 'ready' | 'snapshot'> {
  readonly cluster: ClusterStatus
  readonly lists: {
    readonly events: { readonly withheld: number; readonly shrunk: { readonly until: string | null } | null }
  }
}

/**
 * Starts a process with these settings; resolves when it listens, be it ready or not. `main` may be another build's.
 */
export async function startInstance(
  runtime: Runtime,
  settings: Settings,
  env: Readonly<Record<string, string>> = {},
  main = 'src/main.ts',
): Promise<RealInstance> {
  const defaults = { operations: { port: 0 }, snapshot: null }
  const folder = new FilesDirectory({ ...defaults, ...settings }, null)
  const args = [main, 'serve', '--config', folder.configuration]
  const process = await untilListening(new Child(programOf(runtime), args, { env }))
  return {
    runtime,
    process,
    async status() {
      const reply = await askOperations(`${process.listening.operations}status`)
      return reply === null ? null : (JSON.parse(reply.text) as Told)
    },
    reload(other) {
      folder.configure({ ...defaults, ...settings, ...other })
      process.child.signal('SIGHUP')
    },
    async end() {
      process.child.signal('SIGCONT')
      await process.child.stop()
      folder.remove()
    },
  }
}

/** The one that reads for all; waits until there is exactly one, and all others follow it. */
export async function leaderOf(of: readonly RealInstance[]): Promise<RealInstance> {
  const told = await eventually(
    () => Promise.all(of.map((instance) => instance.status())),
    (all) => {
      const [leader, ...more] = all.filter((one) => one?.cluster.role === 'leader')
      if (leader === undefined || leader === null || more.length > 0) return false
      return all.every((one) => one?.cluster.leader === leader.cluster.instance && one.ready)
    },
  )
  const instance = of[told.findIndex((one) => one?.cluster.role === 'leader')]
  if (instance === undefined) throw new Error('nobody reads')
  return instance
}
