import { join } from 'node:path'
import type { Child } from '../../test/support/child.ts'
import { programOf } from '../../test/support/child.ts'
import { CLIENT_CORE, pinned } from '../machine/pinned.ts'

interface Changes {
  /** The number of rounds; unlimited if absent. */
  readonly rounds?: number
  /** One row in this many changes per round; the first round changes the last row. */
  readonly oneIn?: number
}

/**
 * Starts a program that rewrites a list at intervals with some rows changed. Resolves once it has read the list, its
 * most expensive step; the first round follows.
 */
export async function startWriter(
  eventsFile: string,
  roundSeconds: number,
  { rounds = Infinity, oneIn = 100 }: Changes = {},
): Promise<Child> {
  const program = join(import.meta.dirname, 'list-writer.ts')
  const args = [program, eventsFile, ...[roundSeconds, rounds, oneIn].map(String)]
  const child = pinned(CLIENT_CORE, programOf('bun'), args)
  const ready = await child.line((line) => line.includes('ready'))
  if (ready === null) throw new Error(`the list's writer said: ${child.stderr}`)
  return child
}
