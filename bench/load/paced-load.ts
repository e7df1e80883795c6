import { join } from 'node:path'
import type { Child } from '../../test/support/child.ts'
import { programOf } from '../../test/support/child.ts'
import { CLIENT_CORE, outputOf, pinned } from '../machine/pinned.ts'

/** The result of requests sent at a steady rate. Latencies count from when a request was due. */
export interface Paced {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly worstMs: number
  /** The number of responses with a wrong status, and of requests without a response. */
  readonly errors: number
  /** The longest stall of the client itself, in ms; latencies may include it. */
  readonly clientLateMs: number
}

const PATIENCE_MS = 60_000

/** Starts a steady load; SIGTERM ends it early, with a result. */
export function startPaced(port: number, idsFile: string, rate: number, seconds: number): Child {
  const program = join(import.meta.dirname, 'paced-client.ts')
  const args = [program, String(port), idsFile, String(Math.round(rate)), String(seconds)]
  return pinned(CLIENT_CORE, programOf('bun'), args)
}

export async function pacedResult(client: Child, withinSeconds: number): Promise<Paced> {
  return JSON.parse(await outputOf(client, withinSeconds * 1000 + PATIENCE_MS)) as Paced
}
