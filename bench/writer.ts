import { join } from 'node:path'
import type { Child } from '../test/support/child.ts'
import { programOf } from '../test/support/child.ts'
import { CLIENT_CORE, pinned } from './pinned.ts'

/**
 * Has a list put anew every so many seconds with one row in a hundred changed, for so many rounds or until it is ended.
 * Resolves when it has read the list, which is more work at once than it does from then on; the first round follows.
 */
export async function startWriter(eventsFile: string, roundSeconds: number, rounds?: number): Promise<Child> {
  const program = join(import.meta.dirname, 'list-writer.ts')
  const args = [program, eventsFile, String(roundSeconds), ...(rounds === undefined ? [] : [String(rounds)])]
  const child = pinned(CLIENT_CORE, programOf('bun'), args)
  const ready = await child.line((line) => line.includes('ready'))
  if (ready === null) throw new Error(`the list's writer said: ${child.stderr}`)
  return child
}
