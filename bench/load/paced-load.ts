import { join } from 'node:path'
import type { Child } from '../../test/support/child.ts'
import { programOf } from '../../test/support/child.ts'
import { CLIENT_CORE, outputOf, pinned } from '../machine/pinned.ts'

/** What became of requests that were sent at a steady rate. Latencies count from when a request was due. */
export interface Paced {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly worstMs: number
  /** Answers with another status than was right, and requests without one. */
  readonly errors: number
  /** The longest the client itself was held up: so much of a latency can be its own doing. */
  readonly clientLateMs: number
}

const PATIENCE_MS = 60_000

/** A steady load that has begun; SIGTERM ends it early, with a result. */
export function startPaced(port: number, idsFile: string, rate: number, seconds: number): Child {
  const program = join(import.meta.dirname, 'paced-client.ts')
  const args = [program, String(port), idsFile, String(Math.round(rate)), String(seconds)]
  return pinned(CLIENT_CORE, programOf('bun'), args)
}

export async function pacedResult(client: Child, withinSeconds: number): Promise<Paced> {
  return JSON.parse(await outputOf(client, withinSeconds * 1000 + PATIENCE_MS)) as Paced
}
