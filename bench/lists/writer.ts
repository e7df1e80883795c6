import { join } from 'node:path'
import type { Child } from '../../test/support/child.ts'
import { programOf } from '../../test/support/child.ts'
import { CLIENT_CORE, pinned } from '../machine/pinned.ts'

interface Changes {
  /** Until it is ended where not said. */
  readonly rounds?: number
  /** One row in so many is changed in a round, the last row in the first one. */
  readonly oneIn?: number
}

/**
 * Has a list written again every so many seconds with some of its rows changed. Resolves when it has read the list, which is
 * more work at once than it does from then on; the first round follows.
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
