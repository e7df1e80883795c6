import type { Load, Loader } from '../load/callers.ts'
import { usageOf } from '../machine/process-tree.ts'
import type { Server } from '../servers/server.ts'
import { QUICK } from './scale.ts'

/** A server under full load for some seconds. */
export interface Round extends Load {
  readonly cpuUsPerRequest: number
  readonly rssBytes: number
}

export async function measure(server: Server, loader: Loader, seconds: number): Promise<Round> {
  const before = usageOf(server.pid)
  const load = await loader.load(server.port, seconds)
  const after = usageOf(server.pid)
  return { ...load, cpuUsPerRequest: (after.cpuUs - before.cpuUs) / load.requests, rssBytes: after.rssBytes }
}

/** A server, and a loader that requests its events. */
export interface Subject {
  readonly server: Server
  readonly loader: Loader
}

/**
 * Measures all subjects in turn, round after round, so that a machine that slows down affects all alike. The first
 * round, in which they compile and fill caches, does not count (a quick run omits it). Returns the rounds of each
 * subject.
 */
export async function interleave(
  subjects: readonly Subject[],
  rounds: number,
  seconds: number,
): Promise<readonly (readonly Round[])[]> {
  const measured = subjects.map((): Round[] => [])
  for (let round = QUICK ? 1 : 0; round <= rounds; round++) {
    for (const [index, { server, loader }] of subjects.entries()) {
      const one = await measure(server, loader, seconds)
      if (round > 0) measured[index]?.push(one)
    }
  }
  return measured
}
